"""The report of the experiments on LETOR folds, beside published numbers.

It has a table of all rankers, and the tables and figures of Cao et al. (SIGIR 2006) and of OrdRank (Sun et al.),
computed from the folds. If the data is recognised as that of the papers, published numbers are shown beside ours.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from searchlab import __version__
from searchlab.evaluation.comparison import ALPHA
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.number_text import format_value
from searchlab.evaluation.significance import holm, randomisation_test
from searchlab.rankers.bundle import fingerprint_of
from searchlab.rankers.ranker_registry import RANKERS
from searchlab.report.content import Block, Cell, Paragraph, Report, Section, Table
from searchlab.reproduction import published
from searchlab.reproduction.figures import check_queries, choose_queries
from searchlab.reproduction.letor import MEASURES, FoldData, RankerResult
from searchlab.reproduction.ordrank_report import ordrank_blocks
from searchlab.reproduction.rsvm_ir_report import accuracy, losses, two_queries
from searchlab.training.recipe import Recipe

Results = Mapping[str, RankerResult]

# The measures by which rankers are compared with RSVM in the table of all rankers.
TESTED = ("MAP", "NDCG@1", "NDCG@10")


def letor_report(
    results: Results, data: FoldData, recipe: Recipe, queries: Sequence[str] | None = None, name: str = "the folds"
) -> Report:
    """The report; `queries` are the two queries of Figure 1, by default those with the fewest and the most pairs."""
    table = data.whole
    known = published.OHSUMED.matches(table)
    two = choose_queries(table) if queries is None else check_queries(table, queries)
    sections = [
        Section("All rankers", tuple(_all_rankers(results, known))),
        Section("Ranking SVM for IR (Cao et al. 2006): two queries", tuple(two_queries(table, recipe, two))),
        Section("Ranking SVM for IR: the loss", tuple(losses(table))),
        Section("Ranking SVM for IR: accuracy", tuple(accuracy(results, table, known))),
        Section("OrdRank (Sun et al.)", tuple(ordrank_blocks(results, known=known))),
    ]
    dialect = make_dialect(recipe.dialect)
    best = max(results, key=lambda each: results[each].mean("MAP"))
    lead = (
        f"{_count(len(results), 'ranker')} on {_count(len(data.folds), 'fold')} of {name}: {best} has the best MAP, "
        f"{format_value(results[best].mean('MAP'))}. {_compare_with_letor(results, known)}"
    ).strip()
    return Report(
        f"LETOR experiments: {name}",
        lead,
        tuple(section for section in sections if section.blocks),
        {
            "searchlab": __version__,
            "data": f"{table.n_queries:,} queries, {table.n_rows:,} rows, {table.n_features} features",
            "fingerprint": fingerprint_of(table),
            "recognised as": published.OHSUMED.name if known else "none of the published datasets",
            "rules": dialect.describe(),
            "settings chosen by": f"{recipe.validation_measure().name} on the validation set of each fold",
            "features": f"{recipe.imputation}, {recipe.normalisation}",
            "seed": str(recipe.seed),
            "cores": str(os.cpu_count() or 1),
        },
    )


def _compare_with_letor(results: Results, known: bool) -> str:
    if not known or "rsvm" not in results:
        return ""
    theirs = published.LETOR_BASELINES["RankSVM (LETOR)"]
    ours = results["rsvm"]
    return (
        f"RSVM's MAP is {format_value(ours.mean('MAP'))} here and {format_value(theirs[0])} in LETOR's table, its "
        f"NDCG@1 is {format_value(ours.mean('NDCG@1'))} here and {format_value(theirs[1])} there."
    )


def _all_rankers(results: Results, known: bool) -> list[Block]:
    rows: list[tuple[Cell, ...]] = [
        (name, *(result.mean(measure) for measure in MEASURES), result.train_seconds)
        for name, result in results.items()
    ]
    marks = {}
    if "rsvm" in results and len(results) > 1:
        names = list(results)
        others = [name for name in names if name != "rsvm"]
        for measure in TESTED:
            gains = [results[name].values(measure) - results["rsvm"].values(measure) for name in others]
            for name, gain, p in zip(others, gains, holm([randomisation_test(gain).p for gain in gains]), strict=True):
                if p < ALPHA:
                    marks[names.index(name), 1 + list(MEASURES).index(measure)] = "↑" if np.mean(gain) > 0 else "↓"
    if known:
        rows += [(name, *values, None) for name, values in published.LETOR_BASELINES.items()]
    blocks: list[Block] = []
    if known:
        blocks.append(Paragraph(published.OHSUMED.describe()))
    note = "Means over the queries of each fold, then over folds. Seconds: one fit of the chosen setting."
    if "rsvm" in results:
        tested = ", ".join(TESTED)
        note += f" ↑ ↓: significantly better or worse than rsvm ({tested}; randomisation test, Holm, p < .05)."
    columns = ("", *MEASURES, "seconds")
    caption = "All rankers on the test sets" + (", and published results (below)" if known else "")
    about = tuple((name, RANKERS[name].description) for name in results)
    return [
        *blocks,
        Table("rankers", caption, columns, tuple(rows), best=not known, marks=marks, note=note),
        Table("names", "The rankers", ("", "description"), about),
    ]


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"
