# Two commands do everything on a fresh clone: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CODE := src tests benchmarks fuzz docs/site setup.py
SOURCES := pyproject.toml setup.py $(wildcard src/unjudged/kernels/*.[ch])

.PHONY: demo test lint bench docs fuzz load browser clean

demo: $(VENV)/.installed
	$(BIN)/unjudged demo -o demo

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

# Large inputs, made here: 1,000 runs, a million topics, memory against file size, lost workers (docs/load.md).
load: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/load.py

# Long, coverage guided: the kernels with clang's sanitizers, the grammar, scoring against pytrec_eval.
FUZZ := $(CURDIR)/build/fuzz
EXECUTIONS ?= 1000000
fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	PYTHON=$(BIN)/python bash fuzz/build.sh $(FUZZ) clang
	LD_PRELOAD=$$(clang -print-file-name=libclang_rt.asan-x86_64.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	  PYTHONPATH=$(FUZZ) $(BIN)/python fuzz/run.py kernels --plain --executions $(EXECUTIONS)
	$(BIN)/python fuzz/run.py grammar --executions $(EXECUTIONS)
	$(BIN)/python fuzz/run.py pytrec_eval --plain --executions $$(($(EXECUTIONS) / 10))

clean:
	rm -rf $(VENV) build demo src/*.egg-info src/unjudged/kernels/*.so

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.installed-dev: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@ $(VENV)/.installed
