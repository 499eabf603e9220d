# The commands for people who work on Roost. `make help` lists them.
# They need only make and python3 (3.11 or newer). The first one makes the environment in .venv, and
# a change of pyproject.toml updates it. `make PYTHON=python3.13 …` uses another Python.

.DEFAULT_GOAL := help
SHELL := /bin/sh

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
TESTS_READY := $(VENV)/tests-ready
# The demo needs no tools for tests, and an environment that has them serves as well.
DEMO_READY := $(if $(wildcard $(READY)),$(READY),$(VENV)/demo-ready)

# Desktops set the variable BROWSER for other purposes, so only `make BROWSER=…` counts.
ifneq ($(origin BROWSER),command line)
BROWSER := auto
endif

# A test run starts hundreds of Python processes. Let them share compiled modules.
unexport PYTHONDONTWRITEBYTECODE

# The browsers need processors as well: with 4 workers on 2 processors, tests hit their time limits.
WORKERS := 2

# No test in these folders is fast, and importing them takes seconds.
WITHOUT_FAST_TESTS := --ignore=tests/e2e --ignore=tests/page

.PHONY: help demo test test-fast soak lint bench build clean docs fresh-debian

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/make \1@\2/p' $(MAKEFILE_LIST) | tr '@' '\t' | expand -t 18

demo: $(DEMO_READY)  ## watch several agents share one browser (BROWSER=… picks the browser)
	@case "$(BROWSER)" in \
		fake) ;; \
		auto) $(BIN)/roost browser install ;; \
		*) $(BIN)/roost browser install "$(BROWSER)" ;; \
	esac
	@$(BIN)/roost demo --browser "$(BROWSER)"

test: $(TESTS_READY)  ## run all tests, also in real browsers (installs missing browsers)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --second-try

test-fast: $(READY)  ## run the fast tests, which need no browser
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not browser and not slow" $(WITHOUT_FAST_TESTS)

soak: $(TESTS_READY)  ## run the long tests
	ROOST_SOAK=1 $(BIN)/python -m pytest -m slow --timeout 1800

lint: $(READY)  ## check style, types and import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(READY)  ## measure speed and memory, and compare them with their limits
	$(BIN)/python -m bench

docs: $(READY)  ## generate docs/reference, the prepared MCP answers, the plugins, and "May import" in the room signs
	$(BIN)/python tools/gen_docs.py
	$(BIN)/python tools/gen_plugins.py
	$(BIN)/python tools/gen_answers.py
	$(BIN)/python tools/gen_verbs.py
	$(BIN)/python tools/gen_signs.py

build: $(READY)  ## build and test the wheel, the source archive and the extension, in dist/
	$(BIN)/python -m pip install -qq --disable-pip-version-check 'build>=1.2,<2'
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python tools/pack_extension.py dist
	$(BIN)/python tools/check_build.py dist

fresh-debian: $(READY)  ## follow the README on a new Debian (needs root and debootstrap)
	$(BIN)/python tools/fresh_debian.py $(FRESH_DEBIAN)

clean:  ## remove everything that these commands made
	rm -rf $(VENV) build dist bench/results .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests bench tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(TESTS_READY): $(READY) tools/prepare_tests.py tests/e2e/clients/versions.json
	@$(BIN)/python tools/prepare_tests.py
	@touch $@

# Use the first of these that runs, is new enough and can make environments. Try each: pyenv puts
# commands on PATH that only print an error.
PYTHONS := $(if $(PYTHON),$(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)

$(READY): WANTED := .[dev]
$(VENV)/demo-ready: WANTED := .
$(READY) $(VENV)/demo-ready: pyproject.toml
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
	echo "Installing Roost$(if $(filter-out .,$(WANTED)), and its tools) ..."; \
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '$(WANTED)'; \
	touch $@
