# Every target sets up what it needs in .venv; the stamps keep set-up from being repeated.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: reproduce test test-all lint docs picture bench clean

reproduce: $(VENV)/.runtime  ## install, check every claim at quick size, write report/index.html
	@$(BIN)/giantstep check --size quick --workers 2 --out report; status=$$?; \
	if [ -f report/index.html ]; then echo "$(CURDIR)/report/index.html"; fi; exit $$status

test: $(VENV)/.dev  ## run the tests, but for those marked slow
	$(BIN)/python -m pytest -m "not slow"

test-all: $(VENV)/.dev  ## run all tests
	$(BIN)/python -m pytest

lint: $(VENV)/.dev  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

docs: $(VENV)/.docs  ## build the documentation into site/
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "$(CURDIR)/site/index.html"

picture: $(VENV)/.runtime  ## draw the picture of the README again: about two minutes
	$(BIN)/giantstep compare docs/assets/curve.toml --plot docs/assets/curve.svg

bench: $(VENV)/.dev  ## print the table of speeds
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.start
	$(BIN)/python -m benchmarks.explain
	$(BIN)/python -m benchmarks.theory
	$(BIN)/python -m benchmarks.overlap
	$(BIN)/python -m benchmarks.single_step
	$(BIN)/python -m benchmarks.store --small
	$(BIN)/python -m benchmarks.devices --small
	$(BIN)/python -m benchmarks.workers
	$(BIN)/python -m benchmarks.faults --kills 5
	$(BIN)/python -m benchmarks.estimator --quick

clean:  ## remove everything that was made
	rm -rf $(VENV) report site dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "giantstep needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.created pyproject.toml constraints.txt
	$(INSTALL) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml constraints.txt
	$(INSTALL) -e '.[dev]'
	@touch $@

$(VENV)/.docs: $(VENV)/.created pyproject.toml constraints.txt
	$(INSTALL) -e '.[docs]'
	@touch $@
