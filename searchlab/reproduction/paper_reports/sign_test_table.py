"""Sign tests of a ranker against others on the test queries: Table 2 of Cao et al., and §4.2 of Xu et al. (2006)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from searchlab.report.content import Block, Cell, Table
from searchlab.reproduction.letor import RankerResult
from searchlab.reproduction.paper_reports.figures import sign_tests

# Cao et al. test against the first three, Xu et al. have a classifier too.
BASELINES = ("BM25", "LMIR", "single", "rsvm", "svm")
TESTED = ("NDCG@1", "NDCG@5")
NOTE = (
    "Two-sided sign test, queries with equal values dropped. Corrected: Holm, over the rows of a measure. "
    "Both rankers of a row are of the same recipe; BM25 and LMIR are not trained."
)


def sign_test_table(
    ranker: str,
    results: Mapping[str, RankerResult],
    name: str,
    caption: str,
    published: Mapping[str, float] | None = None,
    measures: Sequence[str] = TESTED,
) -> list[Block]:
    """Sign tests of a ranker against BM25, LMIR, RSVM and the SVM classifier, as far as they were tried.

    `published` are p-values of NDCG@1 by the name of the other ranker; None if the data is not the paper's.
    """
    others = [other for other in BASELINES if other in results]
    if ranker not in results or not others:
        return []
    rows: list[tuple[Cell, ...]] = []
    for measure in measures:
        values = {other: results[other].values(measure) for other in others}
        for each in sign_tests(results[ranker].values(measure), values):
            row: tuple[Cell, ...] = (each.other, measure, each.wins, each.ties, each.losses)
            row = (*row, f"{each.p:.3g}", f"{each.p_corrected:.3g}")
            if published is not None:
                printed = published.get(each.other) if measure == "NDCG@1" else None
                row = (*row, None if printed is None else f"{printed:.3g}")
            rows.append(row)
    columns: tuple[str, ...] = (f"{ranker} against", "measure", "better", "equal", "worse", "p", "p, corrected")
    if published is not None:
        columns = (*columns, "p in the paper")
    return [Table(name, caption, columns, tuple(rows), note=NOTE)]
