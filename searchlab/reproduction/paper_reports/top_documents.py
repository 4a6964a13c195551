"""The best documents of one query by several rankers: Table 3 of Cao et al. (2006), Table 2 of Xu et al. (2006).

The papers show the grades of the top five documents in their order, NDCG@1 and NDCG@5, and discuss which pairs of
grades are reversed among them. The query is a test query: the model was trained on other queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from searchlab.features.feature_table import FeatureTable
from searchlab.report.content import Block, Cell, Paragraph, Table
from searchlab.reproduction.letor import FoldResult, RankerResult
from searchlab.reproduction.paper_reports import published
from searchlab.reproduction.paper_reports.figures import reversed_pairs

# OHSUMED's grades: not, possibly and definitely relevant.
OHSUMED_LETTERS = {0: "n", 1: "p", 2: "d"}
COLUMNS = ("NDCG@1 (eq. 20)", "NDCG@5 (eq. 20)")


def top_documents(results: Mapping[str, RankerResult], table: FeatureTable, qid: str, *, known: bool) -> list[Block]:
    """A row for each ranker: the grades of its top five documents, and the pairs reversed among them."""
    has_letters = table.grades is not None and set(table.grades.tolist()) == set(OHSUMED_LETTERS)
    letters = OHSUMED_LETTERS if has_letters else {}
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        fold = next((fold for fold in result.folds if qid in fold.qids), None)
        if fold is not None:
            rows.append((name, *_show(fold, qid, letters)))
    if not rows:
        return [Paragraph(f"Query {qid} is in no test set, so that no ranking of it is shown (Table 3).")]
    if known and qid == published.TOP_FIVE_QUERY:
        rank = {letter: grade for grade, letter in OHSUMED_LETTERS.items()}
        for name, (shown, first, fifth) in published.TOP_FIVE.items():
            pairs = _count_reversed([rank[letter] for letter in shown.split()], letters)
            rows.append((f"{name} (paper)", shown, pairs, first, fifth))
    note = "Reversed: pairs of the five whose document of the lower grade comes first."
    if has_letters:
        note += " d: definitely, p: possibly, n: not relevant."
    columns = ("", "grades of the top 5", "reversed", *COLUMNS)
    caption = (
        f"Top five documents of query {qid}, tested by models that were trained on other queries (the paper's Table 3)"
    )
    return [Table("table-3", caption, columns, tuple(rows), note=note)]


def _show(fold: FoldResult, qid: str, letters: Mapping[int, str]) -> tuple[Cell, ...]:
    grades = fold.top_grades[qid]
    number = fold.qids.index(qid)
    shown = " ".join(letters.get(grade, str(grade)) for grade in grades)
    values = (float(fold.per_query[measure][number]) for measure in COLUMNS)
    return shown, _count_reversed(grades, letters), *values


def _count_reversed(grades: Sequence[int], letters: Mapping[int, str]) -> str:
    def letter(grade: float) -> str:
        return letters.get(int(grade), f"{grade:g}")

    counts = reversed_pairs(grades)
    return ", ".join(f"{n} ({letter(high)}, {letter(low)})" for (high, low), n in counts.items()) or "none"
