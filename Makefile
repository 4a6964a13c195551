PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test clean

install: .venv/installed

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "searchlab needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: install
	@echo '--- index the bundled collection'
	$(BIN)/searchlab index corpora/medical
	@echo '--- search it'
	$(BIN)/searchlab query 't-cell lymphoma associated with autoimmune symptoms' -i medical -k 5
	@echo '--- the same by a language model'
	$(BIN)/searchlab query 't-cell lymphoma associated with autoimmune symptoms' -i medical -k 3 --scorer dirichlet --set mu=500
	@echo '--- phrases, operators and fields'
	$(BIN)/searchlab query '"t-cell lymphoma" AND autoimmune year:[2000 TO 2024]' -i medical -k 3
	@echo '--- search for all topics, expanded by RM3, and write a TREC run'
	$(BIN)/searchlab run -i medical --expand rm3 -o indexes/medical.rm3.run
	$(BIN)/searchlab run -i medical -o indexes/medical.bm25.run
	@head -n 3 indexes/medical.bm25.run
	@echo
	@echo 'The run is indexes/medical.bm25.run. Next: $(BIN)/searchlab index YOUR-FOLDER, $(BIN)/searchlab query "..."'

test: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
