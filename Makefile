# 'make app' starts the app, 'make test' runs all checks. Requires Python >= 3.11.
# PYTHON=... sets the interpreter, PORT=... the port.

VENV := .venv
PY := $(VENV)/bin/python
RUNTIME := $(VENV)/.runtime-installed
TOOLS := $(VENV)/.tools-installed
# Modules compile when they are first imported; most of them never are.
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --no-compile

# Numerical libraries otherwise start a thread per core in every test process.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTEST := env $(ONE_THREAD) $(PY) -m pytest
# Tests start hundreds of processes, which would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
# Group the output of parallel targets, if make supports it.
SYNC_OUTPUT := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
PARALLEL := -j 2 $(SYNC_OUTPUT)

.DEFAULT_GOAL := help
.PHONY: help app test quick quick-tests lint types kernels unit browser soak docs lock clean

help:
	@echo 'make app       start the app and print its address   (PORT=8600 for another port)'
	@echo 'make test      lint, types, unit, app and browser tests'
	@echo 'make quick     lint, types, and tests of changes since main (two minutes)'
	@echo 'make lint      ruff rules and format, types of the browser code'
	@echo 'make types     mypy --strict on hetviz/'
	@echo 'make unit      unit and app tests'
	@echo 'make browser   browser tests'
	@echo 'make soak      long tests: more examples, hostile files, killed processes (not part of make test)'
	@echo 'make docs      build the documentation site in build/docs'
	@echo 'make lock      write requirements*.txt from pyproject.toml'
	@echo 'make clean     remove .venv and test files'

app: $(RUNTIME)
	@echo 'Starting hetviz; open the address below in a browser. Ctrl+C stops it.'
	@$(PY) -m streamlit run app.py $(if $(PORT),--server.port $(PORT))

# Kernels compile while the tools are installed. Browser tests mostly wait, so all others run in parallel.
# None has a lower priority: on a busy machine it would hardly run.
test:
	@rm -f test-artifacts/reruns.txt
	@$(MAKE) -s --no-print-directory $(RUNTIME)
	@$(MAKE) -s --no-print-directory $(PARALLEL) kernels $(TOOLS)
	@$(MAKE) --no-print-directory -j 4 $(SYNC_OUTPUT) browser unit types lint; \
	    ended=$$?; cat test-artifacts/reruns.txt 2>/dev/null; exit $$ended

quick: $(TOOLS)
	@$(MAKE) --no-print-directory $(PARALLEL) lint types quick-tests

quick-tests: $(TOOLS)
	$(PYTEST) -q -n 2 -m 'not browser and not soak and not slow' --within 60 \
	    $$($(PY) tools/changed_tests.py)

lint: $(TOOLS)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	sh tools/check_javascript.sh $(VENV)
	@$(PY) tools/words.py

types: $(TOOLS)
	$(PY) -m mypy

# Otherwise each test process compiles them.
kernels: $(RUNTIME)
	@env $(ONE_THREAD) $(PY) -m tools.compile_kernels

# What the tests of a file share is made in one process.
unit: $(TOOLS)
	$(PYTEST) -n 2 --dist loadfile -m 'not browser and not soak'

# Two browsers, because they mostly wait. Tests of a file mostly share a server.
browser: $(TOOLS)
	@if ! $(PY) tools/find_chromium.py; then \
	    echo 'Installing Chromium with Playwright.'; \
	    $(PY) -m playwright install chromium || true; \
	fi
	@$(PYTEST) -n 2 --dist worksteal tests/browser

# An hour or more: property tests with more examples, then long runs with faults and hostile files.
soak: $(TOOLS)
	HETVIZ_DEPTH=20 $(PYTEST) -n 2 -m 'hypothesis and not browser' --timeout 3600
	$(PYTEST) -s -m soak tests

$(PY):
	@sh tools/make_venv.sh $(VENV)

$(RUNTIME): requirements.txt | $(PY)
	@echo 'Installing the packages of the app (a few minutes the first time).'
	@$(PIP) -r requirements.txt
	@touch $@

$(TOOLS): requirements-dev.txt $(RUNTIME)
	@echo 'Installing the test tools.'
	@$(PIP) -r requirements-dev.txt
	@touch $@

docs: $(TOOLS)
	$(PY) tools/make_docs.py

lock: $(TOOLS)
	sh tools/lock.sh $(PY)

clean:
	rm -rf $(VENV) tools/javascript/node_modules build dist test-artifacts .pytest_cache .mypy_cache .ruff_cache .hypothesis
