# hetviz: 'make app' starts the app, 'make test' checks everything. Needs only Python >= 3.11.
# PYTHON=... chooses the interpreter, PORT=... the port.

VENV := .venv
PY := $(VENV)/bin/python
RUNTIME := $(VENV)/.runtime-installed
TOOLS := $(VENV)/.tools-installed
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

# Numerical libraries otherwise start a thread per core in every test process.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(PY) -m pytest

.DEFAULT_GOAL := help
.PHONY: help app test lint types unit browser soak docs lock clean

help:
	@echo 'make app       start the app and print its address   (PORT=8600 for another port)'
	@echo 'make test      lint, types, unit, app and browser tests'
	@echo 'make lint      ruff: rules and format'
	@echo 'make types     mypy --strict on hetviz/'
	@echo 'make unit      unit and app tests'
	@echo 'make browser   browser tests'
	@echo 'make soak      long runs with faults (not part of make test)'
	@echo 'make docs      a page for each method and the reference, in build/docs'
	@echo 'make lock      write requirements*.txt from pyproject.toml'
	@echo 'make clean     remove .venv and what the tests left'

app: $(RUNTIME)
	@echo 'Starting hetviz; open the address below in a browser. Ctrl+C stops it.'
	@$(PY) -m streamlit run app.py $(if $(PORT),--server.port $(PORT))

test: lint types unit browser

lint: $(TOOLS)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(TOOLS)
	$(PY) -m mypy

unit: $(TOOLS)
	$(PYTEST) -n 2 -m 'not browser and not soak'

# One process: two browsers with software graphics on two cores only get in each other's way. What
# failed is tried again, up to twice, and told as RERUN: a slow machine may lose a key or a frame.
browser: $(TOOLS)
	@if ! $(PY) tools/find_chromium.py; then \
	    echo 'Asking Playwright to fetch a Chromium.'; \
	    $(PY) -m playwright install chromium || true; \
	fi
	@$(PYTEST) tests/browser --reruns 2 --reruns-delay 3

soak: $(TOOLS)
	$(PYTEST) -s -m soak tests/soak

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
	$(PY) tools/make_docs.py build/docs

lock: $(TOOLS)
	sh tools/lock.sh $(PY)

clean:
	rm -rf $(VENV) build dist test-artifacts .pytest_cache .mypy_cache .ruff_cache .hypothesis
