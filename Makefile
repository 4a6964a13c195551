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
	@echo '--- train a re-ranker from judged topics, and hear whether it helps'
	$(BIN)/searchlab train -i medical -o indexes/medical.model.json
	@echo '--- search with it'
	$(BIN)/searchlab query 't-cell lymphoma associated with autoimmune symptoms' -i medical -k 3 --rerank indexes/medical.model.json
	@echo '--- compare scorers and rankers by cross-validation, and write a report'
	$(BIN)/searchlab experiment examples/medical.toml
	@echo
	@echo 'Next: $(BIN)/searchlab serve -i medical opens the search page: search, judge, train, compare'
	@echo '      $(BIN)/searchlab index YOUR-FOLDER, $(BIN)/searchlab query "..."'

test: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
