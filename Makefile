# Two commands do everything on a fresh clone: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
CODE := src tests benchmarks fuzz docs/site setup.py
SOURCES := pyproject.toml setup.py $(wildcard src/unjudged/kernels/*.[ch])

.PHONY: demo check test lint bench docs fuzz load browser dist dist-check test-wheel lowest free-threaded release-check clean

demo: $(VENV)/.installed
	@$(BIN)/unjudged demo -o demo

# The fast tests, in about a minute, with the share of lines they reach (a floor in pyproject.toml); `make test` runs those marked slow, too.
check: $(VENV)/.installed-dev lint
	$(BIN)/python -m pytest -n auto --dist loadgroup -m 'not slow' --cov --cov-report=term:skip-covered

# Says at the end what it skipped and why (the browser tests without a Chromium: `make browser`).
test: $(VENV)/.installed-dev lint
	$(BIN)/python -m pytest -n auto --dist loadgroup -rs

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/codespell $(CODE) docs examples *.md pyproject.toml

# Debian's Chromium for the tests of report and page: the only thing here that installs a system package, and only when asked.
browser:
	@command -v chromium >/dev/null 2>&1 || { command -v apt-get >/dev/null 2>&1 \
	  && apt-get update -qq >/dev/null 2>&1 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null 2>&1; } \
	  || echo "no chromium, and none could be installed: the browser tests will be skipped"

# Wheel and source archive into dist/; dist-check looks at both and installs each into an empty environment.
dist: $(VENV)/.installed-release
	rm -rf dist build
	$(BIN)/python -m build --outdir dist .

dist-check: dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m abi3audit --strict dist/*abi3*.whl
	for made in dist/*.whl dist/*.tar.gz; do rm -rf build/empty && $(PYTHON) -m venv build/empty \
	  && build/empty/bin/python -m pip install --quiet --disable-pip-version-check $$made \
	  && (cd build && empty/bin/unjudged --version && empty/bin/unjudged simulate --preset tiny -o empty/sim >/dev/null \
	      && empty/bin/unjudged score empty/sim/qrels.txt empty/sim/runs -m nDCG@10 | head -2) || exit 1; done

# The suite against the installed wheel instead of this folder.
test-wheel: dist
	rm -rf build/wheel && $(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[dev]"
	build/wheel/bin/python -m pytest -n auto --dist loadgroup -rs

# The fast tests with the oldest versions of the dependencies that pyproject.toml allows.
lowest:
	rm -rf build/lowest && $(PYTHON) -m venv build/lowest && build/lowest/bin/python -m pip install --quiet uv
	build/lowest/bin/uv pip install --quiet --python build/lowest/bin/python --resolution lowest-direct -e '.[parquet]'
	build/lowest/bin/uv pip freeze --python build/lowest/bin/python --exclude-editable \
	  | grep -Ev '^(pip|setuptools|uv)==' > build/lowest/versions.txt
	build/lowest/bin/uv pip install --quiet --compile-bytecode --python build/lowest/bin/python -c build/lowest/versions.txt -e '.[dev]'
	build/lowest/bin/python -m pytest -n auto --dist loadgroup -m 'not slow'

# make free-threaded PYTHON=python3.14t: the kernels and what stands on them, without the lock. Charts and report are left out:
# vl-convert-python has no wheel for such a Python, nor have polars, pytrec_eval and ir_measures, which some tests are about.
free-threaded:
	rm -rf build/free && $(PYTHON) -m venv build/free
	build/free/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: numpy scipy pandas narwhals rich jinja2 \
	  starlette uvicorn isal statsmodels pytest pytest-xdist hypothesis setuptools
	build/free/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	build/free/bin/python -c "import sys; from unjudged import kernels; assert kernels.IN_USE == 'C' and not sys._is_gil_enabled()"
	build/free/bin/python -m pytest -n auto --dist loadgroup -rs -m 'not slow' tests/kernels tests/measures tests/collection tests/statistics \
	  $(addprefix --ignore=tests/,measures/test_grammar.py measures/test_trec_lists.py collection/test_frozen_inputs.py)

# Before a tag: version, changelog, citation and tag agree.
release-check: $(VENV)/.installed
	$(BIN)/python docs/site/release.py $(TAG)

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# Every target of docs/performance.md, in about a quarter of an hour on an idle machine; fails where one is missed.
bench: $(VENV)/.installed-bench
	@$(BIN)/python benchmarks/bench.py

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
	rm -rf $(VENV) build dist demo src/*.egg-info src/unjudged/kernels/*.so

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

$(VENV)/.installed-release: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build twine abi3audit
	touch $@

$(VENV)/.installed-bench: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@ $(VENV)/.installed
