"""Rankings of the rows of a feature table by a model."""

from __future__ import annotations

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.rankers.bundle import Bundle
from searchlab.records import Ranking
from searchlab.retrieval.document_list import best_first


def name_rows(table: FeatureTable) -> list[str]:
    """A docno for each row; a row without one is named by query and row, such as 10-1."""
    names: list[str] = []
    for qid, rows in table.queries():
        docnos = table.docnos[rows].tolist()
        named = [docno or f"{qid}-{number}" for number, docno in enumerate(docnos, 1)]
        if len(set(named)) < len(named):
            raise SettingError(f"query {qid}: the name of a row without a docno is another row's, expected docnos")
        names += named
    return names


def rank_table(bundle: Bundle, table: FeatureTable) -> list[Ranking]:
    """The rows of each query by their scores; equal scores by docno, descending."""
    scores, names = bundle.scores(table), name_rows(table)
    rankings = []
    for qid, rows in table.queries():
        docnos, row_scores = names[rows], scores[rows]
        order = best_first(row_scores, docnos)
        rankings.append(Ranking(qid, [docnos[row] for row in order.tolist()], row_scores[order].tolist()))
    return rankings
