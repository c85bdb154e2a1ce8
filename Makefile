# PYTHON chooses the interpreter, VENV the environment: make test PYTHON=python3.13 VENV=.venv313
PYTHON ?= python3
VENV ?= .venv
PURE_VENV ?= $(VENV)-pure
PURE_TREE ?= build/pure
PYTEST_ARGS ?=

BIN := $(VENV)/bin
PURE_BIN := $(abspath $(PURE_VENV))/bin
PIP := -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-compiled test-pure build build-pure lint bench bench-all bench-check bench-baseline sanitize clean

demo: build
	$(BIN)/python -m demo $(DEMO_ARGS)

test: lint test-compiled test-pure

test-compiled: build
	ALTHAIA_REQUIRE_COMPILED=1 $(BIN)/python -m pytest $(PYTEST_ARGS)

test-pure: build-pure
	cd $(PURE_TREE) && ALTHAIA_PURE_BUILD=1 $(PURE_BIN)/python -m pytest $(PYTEST_ARGS)

# Compiles what changed and nothing else; takes half a second when nothing did.
build: $(VENV)/.ready
	$(BIN)/python -m buildtools build

# The same sources in a tree of their own: extension modules beside a source would win there.
build-pure: copy $(PURE_VENV)/.ready
	ALTHAIA_PURE_BUILD=1 $(PURE_BIN)/python $(PURE_TREE)/build_ext.py

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) install --editable ".[cli,demo,test]"
	touch $@

$(PURE_VENV)/.ready: pyproject.toml | copy
	test -x $(PURE_BIN)/python || $(PYTHON) -m venv $(PURE_VENV)
	ALTHAIA_PURE_BUILD=1 $(PURE_BIN)/python $(PIP) install --editable "$(PURE_TREE)[cli,demo,test]"
	touch $@

.PHONY: copy
copy: $(VENV)/.ready
	$(BIN)/python -m buildtools copy --to $(PURE_TREE)

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: build
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# Everybody else too; writes docs/performance.md and its charts.
bench-all: build $(VENV)/.charts
	$(BIN)/python -m benchmarks --peers --save $(BENCH_ARGS)

$(VENV)/.charts: $(VENV)/.ready
	$(BIN)/python $(PIP) install "matplotlib>=3.8"
	touch $@

# Needs valgrind. BASELINE=file compares with, or writes, another one.
BASELINE ?= benchmarks/baseline.json

bench-check: build
	$(BIN)/python -m benchmarks.instructions --check --baseline $(BASELINE)

bench-baseline: build
	$(BIN)/python -m benchmarks.instructions --update --baseline $(BASELINE)

sanitize: $(VENV)/.ready
	$(BIN)/python -m buildtools sanitize

clean:
	rm -rf build dist .venv .venv-pure .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf althaia/marshmallow althaia/_build_info.json
	find althaia -name '*.so' -delete -o -name '*.pyd' -delete -o -name '*.c' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
