# Two commands do everything on a fresh clone: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CODE := src tests benchmarks fuzz docs/site setup.py
SOURCES := pyproject.toml setup.py $(wildcard src/unjudged/kernels/*.[ch])

.PHONY: demo check test lint bench docs fuzz load browser clean

demo: $(VENV)/.installed
	@$(BIN)/unjudged demo -o demo

# The fast tests, in under a minute; `make test` runs those marked slow, too.
check: $(VENV)/.installed-dev lint
	$(BIN)/python -m pytest -n auto --dist loadgroup -m 'not slow'

test: $(VENV)/.installed-dev lint browser
	$(BIN)/python -m pytest -n auto --dist loadgroup -rs

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy

# Debian's Chromium for the tests of report and page; where it cannot be had, they are skipped and say so.
browser:
	@command -v chromium >/dev/null 2>&1 || { command -v apt-get >/dev/null 2>&1 \
	  && apt-get update -qq >/dev/null 2>&1 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null 2>&1; } \
	  || echo "no chromium, and none could be installed: the browser tests will be skipped"

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/bench_scoring.py

# Large inputs, made here: 1,000 runs, ten million topics, memory against hits and file size, lost workers (the section
# Load of docs/performance.md). `make load FULL=1` adds a stream of 100 GB, a file of 17 GB and 8 million hits.
load: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/load.py $(if $(FULL),--full)

# Long, coverage guided: kernels with sanitizers, grammar, scoring against pytrec_eval (fuzz/README.md).
FUZZ_RUNS ?= 1000000
FUZZ_SECONDS ?= 0
FUZZ_SEED ?= 1
fuzz: $(VENV)/.installed-dev
	@$(BIN)/python -c 'import atheris' 2>/dev/null \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[fuzz]' \
	  || echo "atheris cannot be installed here: inputs will be mutations, not guided by coverage"
	$(BIN)/python fuzz/run.py --runs $(FUZZ_RUNS) --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

clean:
	rm -rf $(VENV) build demo src/*.egg-info src/unjudged/kernels/*.so

$(BIN)/python:
	@echo "making $(VENV)" >&2
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(SOURCES) | $(BIN)/python
	@echo "installing unjudged into $(VENV)" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-dev: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@ $(VENV)/.installed
