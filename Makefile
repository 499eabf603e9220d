# The two commands of the README, and the ones for whoever works on Roost.
# Nothing is needed but python3 (3.11 or newer) and make: the environment is made here, in .venv,
# and made anew when pyproject.toml changes. `make PYTHON=python3.13 …` picks another Python.

.DEFAULT_GOAL := help
SHELL := /bin/sh

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
TESTS_READY := $(VENV)/tests-ready

# Desktops set BROWSER for purposes of their own: only `make BROWSER=…` counts.
ifneq ($(origin BROWSER),command line)
BROWSER := auto
endif

# What one test's processes compiled, the next one's need not: a test run starts hundreds.
unexport PYTHONDONTWRITEBYTECODE

# Browsers need the processors, too: with 4 workers on 2 processors, tests met their time limits.
WORKERS := 2

.PHONY: help demo test test-fast soak lint bench build clean docs

help:  ## say what there is
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/make \1@\2/p' $(MAKEFILE_LIST) | tr '@' '\t' | expand -t 18

demo: $(READY)  ## several agents share one browser, and prove it (BROWSER=… picks one)
	@case "$(BROWSER)" in \
		fake) ;; \
		auto) $(BIN)/roost browser install ;; \
		*) $(BIN)/roost browser install "$(BROWSER)" ;; \
	esac
	@$(BIN)/roost demo --browser "$(BROWSER)"

test: $(TESTS_READY)  ## all tests, in real browsers (installed if they are missing)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --second-try

test-fast: $(READY)  ## the tests that need no browser and no patience
	$(BIN)/python -m pytest -n auto -m "not browser and not slow"

soak: $(TESTS_READY)  ## the long runs
	ROOST_SOAK=1 $(BIN)/python -m pytest -m slow --timeout 1800

lint: $(READY)  ## style, types and the walls between the rooms
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(READY)  ## what Roost costs, next to what it may cost
	$(BIN)/python -m bench

docs: $(READY)  ## generate docs/reference, the prepared MCP answers, and "May import" in the room signs
	$(BIN)/python tools/gen_docs.py
	$(BIN)/python tools/gen_answers.py
	$(BIN)/python tools/gen_signs.py

build: $(READY)  ## the wheel, the source archive and the extension for the stores, in dist/
	$(BIN)/python -m pip install -qq --disable-pip-version-check 'build>=1.2,<2'
	$(BIN)/python -m build
	$(BIN)/python tools/pack_extension.py dist

clean:  ## remove everything that was made here
	rm -rf $(VENV) build dist bench/results .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests bench tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(TESTS_READY): $(READY) tools/prepare_tests.py tests/e2e/clients/versions.json
	@$(BIN)/python tools/prepare_tests.py
	@touch $@

# The first of these that runs, is new enough and can make environments. A name on PATH proves
# nothing (pyenv puts commands there that only complain), so each is tried.
PYTHONS := $(if $(PYTHON),$(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)

$(READY): pyproject.toml
	@set -e; \
	found=; bare=; \
	for python in $(PYTHONS); do \
		$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
		if $$python -c 'import ensurepip, venv' >/dev/null 2>&1; then found=$$python; break; fi; \
		bare=$$python; \
	done; \
	if [ -z "$$found" ] && [ -n "$$bare" ]; then \
		version=$$($$bare -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		echo "$$bare cannot make virtual environments: its venv module is not installed." >&2; \
		echo "On Debian and Ubuntu: sudo apt install python$$version-venv" >&2; \
		exit 1; \
	elif [ -z "$$found" ]; then \
		echo "Roost needs Python 3.11 or newer; tried: $(PYTHONS)." >&2; \
		echo "Install one, or name it: make PYTHON=/path/to/python3 ..." >&2; \
		exit 1; \
	fi; \
	if ! $(BIN)/python -c '' >/dev/null 2>&1; then \
		echo "Making the environment with $$($$found --version) ..."; \
		$$found -m venv --clear $(VENV); \
	fi; \
	echo "Installing Roost and its tools ..."; \
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'; \
	touch $@
