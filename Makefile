# Everything runs in .venv, made from the Python that `make` finds: only Python, its venv module and
# make are needed on the machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs
SPHINX := $(BIN)/sphinx-build --fail-on-warning --keep-going --nitpicky --jobs 2
# Compiled tests and modules are kept for the next process, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=
# Modules of libraries that need not be there.
LIBRARIES := $(addprefix --ignore=src/mercer/,_devices/torch.py _devices/cupy.py ops/_cuda)

.PHONY: demo test check format examples bench examples-quick docs docs-quick docs-check clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	@echo "Installing mercer and what it needs into $(VENV), about a minute ..."
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)

demo: $(STAMP)  ## the main job on an embedded data set: a table and a picture
	$(BIN)/mercer demo --picture demo.png

test: $(STAMP)  ## all tests
	$(BIN)/python -m pytest -n 2

check: $(STAMP)  ## format, lint, types, import layers, doctests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file= --strict --follow-imports=silent tests/user_scripts
	$(BIN)/python -m pytest tests/test_layers.py
	$(BIN)/python -m pytest -n 2 --doctest-modules src/mercer $(LIBRARIES)

.PHONY: wheel coverage completeness changelog test-oldest test-newest clean-environments

wheel: $(STAMP)  ## wheel and source archive in dist/, checked and tried in an environment of their own
	rm -rf dist $(VENV)-wheel
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip install --quiet dist/*.whl
	$(VENV)-wheel/bin/python .ci/check_wheel.py dist/*.whl

coverage: $(STAMP)  ## which lines the tests run, as a table and in htmlcov/
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term --cov-report=html --cov-report=xml

completeness: wheel  ## the share of public names whose types are known to tools
	$(VENV)-wheel/bin/python -m pip install --quiet 'pyright[nodejs]'
	$(VENV)-wheel/bin/python .ci/type_completeness.py

changelog: $(STAMP)  ## what the next release brings, from the fragments
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	$(BIN)/towncrier build --draft

# Matplotlib 3.9 uses names that pyparsing 3.3 warns of.
test-oldest:  ## tests with the oldest versions that pyproject.toml allows, in .venv-oldest
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet uv
	$(VENV)-oldest/bin/uv pip install --quiet --python $(VENV)-oldest/bin/python \
		--resolution lowest-direct --editable '.[dev]' 'pyparsing<3.3'
	$(VENV)-oldest/bin/python -m pytest -n 2

test-newest:  ## tests with the newest versions, pre-releases included, in .venv-newest
	$(PYTHON) -m venv $(VENV)-newest
	$(VENV)-newest/bin/python -m pip install --quiet --pre --upgrade --editable '.[dev]'
	$(VENV)-newest/bin/python -m pytest -n 2

clean: clean-environments
clean-environments:
	rm -rf $(VENV)-wheel $(VENV)-oldest $(VENV)-newest htmlcov coverage.xml .coverage

format: $(STAMP)  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

examples: $(STAMP)  ## run every example
	for example in examples/*/plot_*.py; do MPLBACKEND=agg $(BIN)/python $$example || exit 1; done

bench: $(STAMP)  ## the quick benchmarks against peers and against the machine's limit
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.accuracy

$(DOCS_STAMP): pyproject.toml | $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $(DOCS_STAMP)

docs: $(DOCS_STAMP)  ## the documentation site, in site/: runs every example, checks every link
	$(SPHINX) docs site
	$(BIN)/python docs/check_links.py site
	$(BIN)/python -m pytest tests/docs

# The tutorials take some seconds each, on one core.
examples-quick: $(STAMP)  ## run the first example and the tutorials, two at a time
	ls examples/00_start/plot_*.py examples/50_tutorials/plot_*.py \
		| MPLBACKEND=agg OMP_NUM_THREADS=1 xargs -P 2 -n 1 $(BIN)/python -W ignore

docs-quick: $(DOCS_STAMP)  ## the same without running the examples
	MERCER_DOCS_QUICK=1 $(SPHINX) docs site
	$(BIN)/python docs/check_links.py site
	$(BIN)/python -m pytest tests/docs

docs-check: $(STAMP)  ## every snippet of the README and the guide, and what it prints
	$(BIN)/python docs/check_snippets.py

clean:  ## remove what was made
	rm -rf $(VENV) site build dist demo.png docs/auto_examples docs/api/generated
