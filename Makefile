# PYTHON chooses the interpreter, VENV the environment: make test PYTHON=python3.13 VENV=.venv313
PYTHON ?= python3
VENV ?= .venv
PURE_VENV ?= $(VENV)-pure
PURE_TREE ?= build/pure
PYTEST_ARGS ?=

# pytest keeps the tests it has rewritten: without that each process of each pass does so anew, for
# half a minute.
unexport PYTHONDONTWRITEBYTECODE

# How many tests run side by side.
TEST_JOBS ?= 2
# Runs what needs no environment.
PYTHON_HERE ?= python3

BIN := $(VENV)/bin
# From everywhere; not by abspath, which takes a path with spaces for several.
PURE_PYTHON := "$(if $(filter /%,$(PURE_VENV)),,$(CURDIR)/)$(PURE_VENV)/bin/python"
PIP := -m pip --disable-pip-version-check --quiet
# An environment of another interpreter is made anew, one of this interpreter is only completed.
INTERPRETER := $(shell $(PYTHON) -c 'import sys, sysconfig; print(sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag)')
MADE := $(VENV)/.made-$(INTERPRETER)
READY := $(VENV)/.ready-$(INTERPRETER)
DEMO_READY := $(VENV)/.demo-$(INTERPRETER)
DOCS_READY := $(VENV)/.docs-$(INTERPRETER)
PURE_READY := $(PURE_VENV)/.ready-$(INTERPRETER)
SLOW_READY := $(VENV)/.slow-$(INTERPRETER)
PURE_SLOW_READY := $(PURE_VENV)/.slow-$(INTERPRETER)

help:
	@echo "Try it"
	@echo "  make demo           build, do the same work with marshmallow and with althaia, compare"
	@echo "Change it"
	@echo "  make build          compile in place what has changed"
	@echo "  make test-quick     the tests that fail first"
	@echo "  make test           lint, and all ordinary tests: compiled, pure, other releases"
	@echo "  make test-slow      what test leaves out: wheels, the site, attacks, each release"
	@echo "  make test-releases  RELEASES='4.3.1 3.26.2': all differential tests with them"
	@echo "  make lint           formatting, style, types"
	@echo "  make bench          marshmallow against althaia"
	@echo "Publish it"
	@echo "  make docs           the site, in build/site"
	@echo "  make release-check  all of a release but its publication"
	@echo "PYTHON=python3.13 chooses the interpreter, PYTEST_ARGS='-k name' the tests. The Makefile has"
	@echo "more: parts of these (test-compiled, test-pure), pages, other measurements (bench-…), sanitize, clean."

.PHONY: help demo test test-slow test-quick test-others test-releases test-compiled test-pure test-in build build-pure lint bench bench-all bench-check bench-baseline bench-service bench-many bench-wire bench-applications pages docs release-check sanitize clean

# Runs from this tree, compiled as a wheel is; what tests and tools need is not installed for it.
demo: $(DEMO_READY)
	$(BIN)/python -m buildtools build
	$(BIN)/python -m demo $(DEMO_ARGS)

$(DEMO_READY) $(DOCS_READY): $(VENV)/.%-$(INTERPRETER): pyproject.toml | $(MADE)
	@echo "Installing what the $* needs"
	$(BIN)/python -m buildtools requirements $* > $(VENV)/$*-requirements.txt
	$(BIN)/python $(PIP) install --no-compile --requirement $(VENV)/$*-requirements.txt
	touch $@

# Each of the first two keeps one core busy. Only CPython has more than the pure build.
ifneq ($(filter cpython%,$(INTERPRETER)),)
test:
	@test -e $(READY) || echo "make test takes some 15 minutes on two idle cores and 1.5 GB of disk"
	$(MAKE) --jobs 2 lint build-pure
	$(MAKE) test-compiled test-others test-pure
else
test: test-pure
endif

# Side by side. Exit code 5: PYTEST_ARGS chose none of these tests.
define run-tests
$(1) -m pytest -n $(TEST_JOBS) --dist worksteal -m "not alone and $(2)" $(PYTEST_ARGS) || test $$? = 5
endef

test-compiled: build
	$(call run-tests,ALTHAIA_REQUIRE_COMPILED=1 $(BIN)/python,not slow)

# Those marked `alone` measure the machine, or interrupt what they run; a pure build has none.
test-slow: build build-pure $(SLOW_READY) $(PURE_SLOW_READY)
	$(call run-tests,ALTHAIA_REQUIRE_COMPILED=1 $(BIN)/python,slow)
	ALTHAIA_REQUIRE_COMPILED=1 $(BIN)/python -m pytest -m alone $(PYTEST_ARGS) || test $$? = 5
	$(call run-tests,HYPOTHESIS_PROFILE=thorough ALTHAIA_REQUIRE_COMPILED=1 $(BIN)/python,hypothesis and not slow)
	ALTHAIA_TEST_RELEASE=3.26.2 HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest tests/conformance/test_properties.py -k instances $(PYTEST_ARGS) || test $$? = 5
	$(call run-tests,cd $(PURE_TREE) && ALTHAIA_PURE_BUILD=1 $(PURE_PYTHON),slow)

# A part of test-releases, in half a minute on two idle cores; a process each.
OTHERS ?= 4.3.1 3.26.2 $(shell $(BIN)/python -m tests.releases)
SAMPLE := $(addprefix tests/conformance/test_,hooks.py options.py construction.py lazy_instances.py load_text.py only_in_3.py)
test-others: build
	$(MAKE) --jobs 2 --output-sync $(addprefix test-other-,$(OTHERS))

test-other-%:
	ALTHAIA_TEST_RELEASE=$* $(BIN)/python -m pytest $(SAMPLE) $(PYTEST_ARGS) || test $$? = 5

# What fails first, in less than a minute on two idle cores; tests/README.md.
test-quick: build
	ALTHAIA_REQUIRE_COMPILED=1 $(BIN)/python -m pytest -q -n $(TEST_JOBS) --dist worksteal -m "not alone" @tests/quick.txt $(PYTEST_ARGS)

test-pure: build-pure
	$(call run-tests,cd $(PURE_TREE) && ALTHAIA_PURE_BUILD=1 $(PURE_PYTHON),not slow)

# The differential tests and upstream's own suite with other releases than that of the compiled copy.
RELEASES ?= 4.3.1 4.3.0 4.2.4 4.1.2 4.0.1 3.26.2 3.26.1
test-releases: build
	set -e; for release in $(RELEASES); do \
	  ALTHAIA_TEST_RELEASE=$$release $(BIN)/python -m pytest \
	    -n $(TEST_JOBS) --dist worksteal -m "not alone" tests/conformance tests/upstream $(PYTEST_ARGS); \
	done

# Compiles what changed and nothing else; takes half a second when nothing did.
build: $(READY)
	$(BIN)/python -m buildtools build

# The same sources in a tree of their own: extension modules beside a source would win there.
build-pure: copy $(PURE_READY)
	ALTHAIA_PURE_BUILD=1 $(PURE_PYTHON) $(PURE_TREE)/build_ext.py

# An environment that somebody else made is not cleared.
$(MADE):
	@test ! -e $(VENV) || ls -a $(VENV) | grep -Eq '^\.(made|ready)-' || { \
	  echo "$(VENV) was not made by make: remove it, or name another: make VENV=.venv-althaia" >&2; exit 1; }
	@echo "Making an environment in $(VENV)"
	test -e $(READY) || $(PYTHON) -m venv --clear $(VENV)
	touch $@

$(READY): pyproject.toml | $(MADE)
	@echo "Installing what the build and the tests need"
	$(BIN)/python -m buildtools requirements cli demo test > $(VENV)/requirements.txt
	$(BIN)/python -m pip --disable-pip-version-check install --requirement $(VENV)/requirements.txt
	$(BIN)/python -m buildtools build
	$(BIN)/python $(PIP) install --no-build-isolation --no-deps --editable .
	touch $@

$(PURE_READY): pyproject.toml | copy
	test -e $@ || $(PYTHON) -m venv --clear $(PURE_VENV)
	ALTHAIA_PURE_BUILD=1 $(PURE_PYTHON) $(PIP) install --editable "$(PURE_TREE)[cli,demo,test]"
	touch $@

# Wheels, the site, a cluster: nobody else needs what makes them.
$(SLOW_READY): $(READY)
	$(BIN)/python -m buildtools requirements slow > $(VENV)/slow-requirements.txt
	$(BIN)/python $(PIP) install --requirement $(VENV)/slow-requirements.txt
	touch $@

$(PURE_SLOW_READY): $(SLOW_READY) | $(PURE_READY)
	$(PURE_PYTHON) $(PIP) install --requirement $(VENV)/slow-requirements.txt
	touch $@

.PHONY: copy
copy:
	$(PYTHON) -m buildtools copy --to $(PURE_TREE)

# In another root (a chroot with a newer interpreter), with this tree copied into it; as root.
# make test-in ROOT=/opt/newest PYTHON=python3.14
test-in:
	test -n "$(ROOT)" || { echo "ROOT names the folder of the other root" >&2; exit 2; }
	$(PYTHON_HERE) -m buildtools copy --to "$(ROOT)/srv/althaia"
	chroot "$(ROOT)" make -C /srv/althaia test PYTHON=$(PYTHON) PYTEST_ARGS="$(PYTEST_ARGS)"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	. $(BIN)/activate && cython-lint althaia
	$(BIN)/mypy

bench: build
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# Everybody else too; writes docs/performance-tables.md and its charts.
bench-all: $(VENV)/.bench-$(INTERPRETER) build
	$(BIN)/python -m benchmarks --peers --save $(BENCH_ARGS)

$(VENV)/.bench-$(INTERPRETER): $(READY)
	$(BIN)/python $(PIP) install --editable ".[bench]"
	touch $@

# Needs valgrind. BASELINE=file compares with, or writes, another one.
BASELINE ?= benchmarks/baseline.json

bench-check: build
	$(BIN)/python -m benchmarks.instructions --check --baseline $(BASELINE)

bench-baseline: build
	$(BIN)/python -m benchmarks.instructions --update --baseline $(BASELINE)

# The shop on its servers and the pings; writes docs/performance-service.md.
bench-service: $(VENV)/.service-$(INTERPRETER) build
	$(BIN)/python -m benchmarks.service --save $(BENCH_ARGS)

# Five million rows through check; writes docs/performance-files.md.
bench-many: $(VENV)/.service-$(INTERPRETER) build
	$(BIN)/python -m benchmarks.many --save $(BENCH_ARGS)

$(VENV)/.service-$(INTERPRETER): $(READY)
	$(BIN)/python $(PIP) install --editable ".[service,many]"
	touch $@

# Messages, stored entities, exports; writes docs/performance-wire.md.
bench-wire: build
	$(BIN)/python -m benchmarks.wire --save $(BENCH_ARGS)

# Real applications' schemas, each in an environment of its own; writes
# docs/performance-applications.md.
bench-applications: build
	$(BIN)/python -m benchmarks.applications --save $(BENCH_ARGS)

# What the pages show of the source and of measured pages; adapters are imported for it.
pages: $(READY)
	$(BIN)/python docs/made.py

# The site. Warnings are errors. Nothing is compiled for it.
docs: $(DOCS_READY)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --jobs auto -q docs build/site
	@echo "build/site/index.html"

# All of a release but its publication; some ten minutes, two of them to compile.
release-check: $(READY)
	$(BIN)/python -m buildtools rehearse

sanitize: $(READY)
	$(BIN)/python -m buildtools sanitize -- $(PYTEST_ARGS)

clean:
	rm -rf build dist .venv .venv-pure .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf althaia/marshmallow althaia/_build_info.json
	find althaia -name '*.so' -delete -o -name '*.pyd' -delete -o -name '*.c' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
