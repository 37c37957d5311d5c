# Every target sets up what it needs in .venv; the stamps keep set-up from being repeated.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := scripts/install $(BIN)/python -c constraints.txt
# Containers often forbid bytecode. Each of the hundreds of processes that the tests start would then compile JAX's source anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: reproduce test test-all lint docs pages story story-numbers versions oldest newest wheel-test picture bench claim clean

reproduce: $(VENV)/.runtime  ## install, check every claim at quick size, write report/index.html
	@echo "The report grows in $(CURDIR)/report/index.html while the claims run."
	@$(BIN)/giantstep check --size quick --workers 2 --out report; status=$$?; \
	if [ -f report/index.html ]; then echo "$(CURDIR)/report/index.html"; fi; exit $$status

# Packages whose shapes jaxtyping checks while the quick tests run; the slow ones run a quarter faster without.
SHAPES := _training.step theory.one_step theory.mixtures theory.narrow theory.pairs theory.sgd_readout theory.steps \
	theory.two_steps ridge._resolvent ridge._readout ridge._conjugate_gradients ridge.sgd measure functions.hermite \
	functions._gaussian_averages functions._tensors functions.expansion functions.staircase functions.losses \
	functions._named experiment.draw experiment.data.fit_mixture experiment._regime systems.attack.ray \
	systems.attack.random_ray systems.mean_field.dual systems.mean_field.particles \
	systems.mean_field._crank_nicolson
empty :=
comma := ,
CHECKED := --jaxtyping-packages=$(subst $(empty) ,$(comma),$(strip $(addprefix giantstep.,$(SHAPES)))),beartype.beartype

test: $(VENV)/.dev  ## run the tests but the slow ones
	$(BIN)/python -P -m pytest -m "not slow" $(CHECKED)

# What the slow tests compile mostly runs once: it is compiled without the optimisations of LLVM and by the older emitters of
# XLA where it still has them, in a quarter of the time. The quick tests run programs as users have them.
QUICKLY := --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false

test-all: test  ## run all tests
	XLA_FLAGS="$$XLA_FLAGS $$(scripts/known-flags $(BIN)/python $(QUICKLY) | xargs)" $(BIN)/python -P -m pytest -m slow

lint: $(VENV)/.dev  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --threads 2
	$(BIN)/lint-imports

docs: $(VENV)/.docs  ## build the documentation into site/
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/gallery.py
	$(BIN)/python docs/figures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python -P -m giantstep.story site/story
	@echo "$(CURDIR)/site/index.html"

pages: docs  ## build the documentation and look at its pages in a browser
	GIANTSTEP_SITE=site $(BIN)/python -P -m pytest -n0 tests/test_pages.py

story: $(VENV)/.runtime  ## write the story as a static page with its notebooks into site/story/
	$(BIN)/python -P -m giantstep.story site/story

story-numbers: $(VENV)/.runtime  ## compute the numbers of the story again: a few minutes
	$(BIN)/python -P -m giantstep.story --measure

# A short look at everything that calls another package. Old packages warn about their newer neighbours, so warnings are no errors.
SHORT := $(addprefix tests/,functions/test_hermite.py ridge/test_ridge.py results/test_outcome.py explain/test_explain.py \
	lab/test_store.py cli/test_cli.py explorer/test_explorer_state.py theory/test_theory_limit.py::test_published_values \
	simulate/test_simulate.py::test_against_numpy simulate/test_simulate.py::test_spectrum \
	estimator/test_estimator.py::test_several_outputs_and_data_frames \
	estimator/test_estimator.py::test_pipeline_and_grid_search)
LEFT_OUT := -k 'not (hundred_thousand or quadrature or exponent)'  # long, or timed by the clock
TOOLS := beartype hypothesis pytest pytest-xdist
WITH := -e '.[lab,cluster,explore]' $(TOOLS)

versions: oldest newest  ## short tests with the oldest dependencies that pyproject.toml allows, and with the newest

oldest: .venv-oldest/.created constraints-oldest.txt
	scripts/install .venv-oldest/bin/python $(WITH) -c constraints-oldest.txt
	.venv-oldest/bin/python -P -m pytest -W default $(LEFT_OUT) $(SHORT)

newest: .venv-newest/.created
	PIP_UPGRADE_STRATEGY=eager scripts/install .venv-newest/bin/python $(WITH) --upgrade
	.venv-newest/bin/python -P -m pytest -W default $(LEFT_OUT) $(SHORT)

wheel-test: $(VENV)/.dev  ## build sdist and wheel, install the wheel alone, run the README there
	.ci/wheel $(CURDIR)/$(BIN)/python

picture: $(VENV)/.runtime  ## draw the pictures of the README and of the pages again: about four minutes
	$(BIN)/python docs/pictures.py

bench: $(VENV)/.dev  ## print the table of speeds
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.start
	$(BIN)/python -m benchmarks.first
	$(BIN)/python -m benchmarks.explain
	$(BIN)/python -m benchmarks.theory
	$(BIN)/python -m benchmarks.overlap
	$(BIN)/python -m benchmarks.single_step
	$(BIN)/python -m benchmarks.store --small
	$(BIN)/python -m benchmarks.devices --small
	$(BIN)/python -m benchmarks.workers
	$(BIN)/python -m benchmarks.faults --kills 5
	$(BIN)/python -m benchmarks.wrong_calls --calls 1000
	$(BIN)/python -m benchmarks.estimator --quick

claim: $(VENV)/.docs  ## measure a new claim, and keep what tests and pages need: make claim NAME=paper/claim
	$(BIN)/python -P -m giantstep check $(NAME) --first-seed 9000000 --workers 2 --out report
	$(BIN)/python -m tests.kept $(NAME)
	$(BIN)/python -m tests.wrong_worlds $(NAME) --workers 2 --keep
	$(BIN)/python -m tests.frozen.evidence
	$(BIN)/python docs/generate.py --verdicts report/verdicts.json 'two cores'

clean:  ## remove everything that was made
	rm -rf $(VENV) .venv-oldest .venv-newest report site dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

%/.created:
	@$(PYTHON) -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "giantstep needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@rm -rf $*
	$(PYTHON) -P -m venv $*
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
