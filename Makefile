PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: install install-dev demo test test-thorough docs dist check-dist lock audit clean

install: .venv/installed

install-dev: .venv/installed-dev

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "searchlab needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	$(PIP) --editable .
	touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/python
	$(PIP) --editable '.[dev]'
	touch .venv/installed $@

.venv/installed-docs: pyproject.toml | .venv/bin/python
	$(PIP) --editable '.[docs]'
	touch .venv/installed $@

.venv/installed-release: pyproject.toml | .venv/bin/python
	$(PIP) --editable '.[release]'
	touch .venv/installed $@

demo: install
	@echo '--- index the bundled collection'
	$(BIN)/searchlab index corpora/medical
	@echo '--- search it'
	$(BIN)/searchlab query 't-cell lymphoma associated with autoimmune symptoms' -i medical -k 5
	@echo '--- the same by a language model'
	$(BIN)/searchlab query 't-cell lymphoma associated with autoimmune symptoms' -i medical -k 3 --scorer dirichlet --set mu=500
	@echo '--- phrases, operators and fields'
	$(BIN)/searchlab query '"t-cell lymphoma" AND autoimmune year:[2000 TO 2024]' -i medical -k 3
	@echo '--- re-ranked by the built-in model, which needs no judgments'
	$(BIN)/searchlab query 't-cell lymphoma associated with autoimmune symptoms' -i medical -k 3 --rerank builtin
	@echo '--- train a re-ranker from judged topics, and see whether it helps'
	$(BIN)/searchlab train -i medical -o indexes/medical.model.json
	@echo '--- a topic that was held out, by BM25 and by a model of other topics'
	$(BIN)/python examples/held_out_topic.py
	@echo '--- compare scorers and rankers by cross-validation, and write a report'
	$(BIN)/searchlab experiment examples/medical.toml
	@echo
	@echo 'Next: $(BIN)/searchlab serve -i medical opens the search page: search, judge, train, compare'
	@echo '      $(BIN)/searchlab index YOUR-FOLDER, $(BIN)/searchlab query "..."'

# One process a core; `make test WORKERS=0` runs all tests in one process.
WORKERS ?= auto

# The tests start hundreds of processes, none of which shall compile the modules again.
test test-thorough: export PYTHONDONTWRITEBYTECODE =

# Each process takes a file of tests at a time, since those of a browser build upon each other.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST)

# The same with twenty times as many examples of each property, killed workers and failing calls: before a release, or for a change of a parser or a kernel.
test-thorough: install-dev
	$(PYTEST) --hypothesis-profile=thorough

# The documentation site, in site/.
docs: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# A wheel and a source archive, in dist/.
dist: install-dev
	rm -rf dist
	$(BIN)/python -m build --no-isolation

# The wheel in an empty environment, away from this folder, with its dependencies as declared.
check-dist: dist
	rm -rf build/check && mkdir -p build/check
	$(PYTHON) -m venv build/check/venv
	build/check/venv/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build/check && venv/bin/searchlab example medical && venv/bin/searchlab index corpora/medical && venv/bin/searchlab query 't-cell lymphoma' -k 3

# Versions and hashes for reproducible installs, in requirements/. Versions that still fit are kept;
# `make lock UPGRADE=--upgrade` takes the newest.
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command 'make lock' $(UPGRADE) pyproject.toml

lock: .venv/installed-release
	$(LOCK) --output-file requirements/locked.txt
	$(LOCK) --constraint requirements/locked.txt --extra dev --output-file requirements/locked-dev.txt

# Known vulnerabilities of the locked versions. Exit codes of the script: 1 for some, 3 where they cannot be looked up.
audit: .venv/installed-release
	$(BIN)/python requirements/audit.py

clean:
	rm -rf .venv build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
