# make demo and make test create .venv and install everything. They need Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt

.PHONY: help demo test lint fuzz kills audit bench clean

demo: $(VENV)/.installed  ## learn from differences of digits and print the accuracy of each method
	@$(BIN)/confdiff demo --output demo --overwrite

test: lint  ## run lint, types, import layers and all tests
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q --numprocesses auto

lint: $(VENV)/.installed-dev  ## run ruff, mypy and the import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

MINUTES ?= 10
FUZZ ?= --minutes $(MINUTES)
fuzz: $(VENV)/.installed-dev  ## damage all kinds of files for MINUTES=10, and open them; FUZZ='--target T --seed N' repeats a case
	@PYTHONPATH=tests OMP_NUM_THREADS=1 $(BIN)/python -m fuzzing.run $(FUZZ)

kills: $(VENV)/.installed-dev  ## kill fit, fit --stream, predict and run 20 times each, and compare what they end with; kill judges
	@CONFDIFF_KILLS=20 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/test_kills.py
	@CONFDIFF_KILLS=5 CONFDIFF_JUDGE_PAIRS=2000 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/labelling/judges/test_kills.py

AUDIT := $(VENV)/audit/bin
audit:  ## check the pinned versions against published advisories, which needs the network
	@test -x $(AUDIT)/pip-audit || { $(PYTHON) -m venv $(VENV)/audit && $(AUDIT)/python -m pip --quiet install pip-audit; }
	@$(AUDIT)/pip-audit --strict --no-deps --disable-pip --progress-spinner off --requirement constraints.txt || \
	{ echo "audit failed: an advisory is listed above, or the advisories of a package could not be read." >&2; exit 1; }

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*##/\1:/p' $(MAKEFILE_LIST)

bench: $(VENV)/.installed-dev  ## measure speed and memory, as ratios in one run
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

clean:  ## remove everything that was generated
	rm -rf $(VENV) demo dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (a minute or two the first time)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@$(PIP) --editable '.[dev]'
	@touch $@
