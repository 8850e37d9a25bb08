# hetviz: 'make app' starts the app, 'make test' checks everything. Needs only Python >= 3.11.
# PYTHON=... chooses the interpreter, PORT=... the port.

VENV := .venv
PY := $(VENV)/bin/python
RUNTIME := $(VENV)/.runtime-installed
TOOLS := $(VENV)/.tools-installed
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

# Numerical libraries otherwise start a thread per core in every test process.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTEST := env $(ONE_THREAD) $(PY) -m pytest
# What targets say that run at once is kept together where make knows how.
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
BESIDE := -j 2 $(TOGETHER)

.DEFAULT_GOAL := help
.PHONY: help app test quick quick-tests lint types kernels unit browser soak docs lock clean

help:
	@echo 'make app       start the app and print its address   (PORT=8600 for another port)'
	@echo 'make test      lint, types, unit, app and browser tests'
	@echo 'make quick     lint, types, and the tests of what changed since main: two minutes'
	@echo 'make lint      ruff: rules and format'
	@echo 'make types     mypy --strict on hetviz/'
	@echo 'make unit      unit and app tests'
	@echo 'make browser   browser tests'
	@echo 'make soak      many examples, more of the same, hostile files, killed processes (not part of make test)'
	@echo 'make docs      the documentation site, in build/docs'
	@echo 'make lock      write requirements*.txt from pyproject.toml'
	@echo 'make clean     remove .venv and what the tests left'

app: $(RUNTIME)
	@echo 'Starting hetviz; open the address below in a browser. Ctrl+C stops it.'
	@$(PY) -m streamlit run app.py $(if $(PORT),--server.port $(PORT))

# While the tools are installed the other core compiles. Browser tests wait more than they work, so
# the others run beside them and give way to them; what ends last has both cores.
test:
	@rm -f test-artifacts/reruns.txt
	@$(MAKE) -s --no-print-directory $(RUNTIME)
	@$(MAKE) -s --no-print-directory $(BESIDE) kernels $(TOOLS)
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory -j 3 $(TOGETHER) browser unit types GIVE_WAY='nice -n 5'; \
	    ended=$$?; cat test-artifacts/reruns.txt 2>/dev/null; exit $$ended

quick: $(TOOLS)
	@$(MAKE) --no-print-directory $(BESIDE) lint types quick-tests

quick-tests: $(TOOLS)
	$(PYTEST) -q -n 2 -m 'not browser and not soak and not slow' --within 60 \
	    $$($(PY) tools/changed_tests.py)

lint: $(TOOLS)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	@$(PY) tools/words.py

types: $(TOOLS)
	$(GIVE_WAY) $(PY) -m mypy

# Or each process of the tests compiles the same at its start.
kernels: $(RUNTIME)
	@env $(ONE_THREAD) $(PY) -m tools.compile_kernels

unit: $(TOOLS)
	$(GIVE_WAY) $(PYTEST) -n 2 --dist loadgroup -m 'not browser and not soak'

# Two browsers, since each waits more than it works; a file's tests mostly stay with one server.
browser: $(TOOLS)
	@if ! $(PY) tools/find_chromium.py; then \
	    echo 'Asking Playwright to fetch a Chromium.'; \
	    $(PY) -m playwright install chromium || true; \
	fi
	@$(PYTEST) -n 2 --dist worksteal tests/browser

# An hour or more: property tests in depth, then long runs with faults and hostile files.
soak: $(TOOLS)
	HETVIZ_DEPTH=20 $(PYTEST) -n 2 -m 'hypothesis and not browser' --timeout 3600
	$(PYTEST) -s -m soak tests

$(PY):
	@sh tools/make_venv.sh $(VENV)

$(RUNTIME): requirements.txt | $(PY)
	@echo 'Installing the packages that the app needs (a few minutes the first time).'
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
	rm -rf $(VENV) build dist test-artifacts .pytest_cache .mypy_cache .ruff_cache .hypothesis
