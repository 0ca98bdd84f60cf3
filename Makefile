# Everything runs in .venv, made from the Python that `make` finds: only Python, its venv module and
# make are needed on the machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs
SPHINX := $(BIN)/sphinx-build --fail-on-warning --keep-going --nitpicky --jobs 2
# Modules of libraries that need not be there.
LIBRARIES := $(addprefix --ignore=src/mercer/,_devices/torch.py _devices/cupy.py ops/_cuda)

.PHONY: demo test check format examples bench docs docs-quick docs-check clean

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
	$(BIN)/python -m pytest tests/test_layers.py
	$(BIN)/python -m pytest -n 2 --doctest-modules src/mercer $(LIBRARIES)

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

docs-quick: $(DOCS_STAMP)  ## the same without running the examples
	MERCER_DOCS_QUICK=1 $(SPHINX) docs site
	$(BIN)/python docs/check_links.py site

docs-check: $(STAMP)  ## every snippet of the README and the guide, and what it prints
	$(BIN)/python docs/check_snippets.py

clean:  ## remove what was made
	rm -rf $(VENV) site build dist demo.png docs/auto_examples docs/api/generated
