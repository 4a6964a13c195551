"""The report of training on one collection and testing on another."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from searchlab import __version__
from searchlab.evaluation.comparison import ALPHA
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.number_text import format_difference, format_p_value, format_value
from searchlab.report.content import Block, Cell, Paragraph, Report, Section, Table
from searchlab.reproduction.cross_collection.collection import MEASURE
from searchlab.reproduction.cross_collection.learners import LANGUAGE_MODEL
from searchlab.reproduction.cross_collection.result import CrossCell, CrossResult
from searchlab.reproduction.retrieval import BASELINE
from searchlab.reproduction.retrieval_report import BETTER, WORSE

CROSS_VALIDATED = "cv"
NOTE = (
    f"{CROSS_VALIDATED}: trained and tested on the same collection, cross-validated over topics. {BETTER} {WORSE}: "
    f"significantly better or worse than {BASELINE} (randomisation test, Holm over a column, p < .05)."
)


def cross_report(result: CrossResult, features: str, seed: int = 0) -> Report:
    """The table of the lecture, what was learnt, the differences to the diagonal, and the SVM against the LM."""
    sections = [
        Section("Training on one collection, testing on another", tuple(_table_blocks(result))),
        Section("What training elsewhere costs", tuple(_cost_blocks(result))),
        Section("Classifier or language model", tuple(_classifier_blocks(result, seed))),
    ]
    facts = {
        "searchlab": __version__,
        "rules": make_dialect("trec").describe(),
        "features of rankers": features,
        "folds": str(result.n_folds),
        "seed": str(seed),
    }
    facts |= {
        name: f"{n_docs:,} documents, {n_topics:,} topics with a relevant document"
        for name, (n_docs, n_topics) in result.sizes.items()
    }
    named = tuple(section for section in sections if section.blocks)
    return Report("Training on one collection, testing on another", result.verdict(), named, facts)


def mark_of(cell: CrossCell | None) -> str:
    """The mark of a cell: whether it is cross-validated, and whether it differs from BM25 significantly."""
    if cell is None:
        return ""
    compared = cell.baseline
    sign = "" if not compared.significant else BETTER if compared.difference > 0 else WORSE
    return " ".join(filter(None, [CROSS_VALIDATED if cell.is_diagonal else "", sign]))


def format_cross_table(result: CrossResult) -> str:
    """The table for a terminal: a group of rows for each collection to train on, a column for each to test on."""
    names = list(result.sizes)
    first = max(len("trained on"), *map(len, names))
    second = max(map(len, [*result.systems, BASELINE]))
    widths = [max(6, len(name)) for name in names]
    # Marks follow the numbers, which end in the same column.
    heads = " ".join(f"{name:>{width}}     " for name, width in zip(names, widths, strict=True))
    lines = [f"{'trained on':{first}}  {MEASURE:{second}}  {heads}".rstrip()]

    def add(head: str, system: str, cells: Iterable[tuple[float | None, str]]) -> None:
        shown = [
            f"{'–' if mean is None else format_value(mean):>{width}} {mark:<4}"
            for (mean, mark), width in zip(cells, widths, strict=True)
        ]
        lines.append(f"{head:{first}}  {system:{second}}  {' '.join(shown)}".rstrip())

    add("–", BASELINE, ((float(np.mean(result.baselines[name])), "") for name in names))
    for source in names:
        for number, system in enumerate(result.systems):
            cells = [result.cell(system, source, target) for target in names]
            means = [(None if cell is None else cell.mean, mark_of(cell)) for cell in cells]
            add("" if number else source, system, means)
    return "\n".join(lines)


def _table_blocks(result: CrossResult) -> list[Block]:
    names = list(result.sizes)
    rows: list[tuple[Cell, ...]] = [
        ("–", BASELINE, "", *(float(np.mean(result.baselines[name])) for name in names)),
    ]
    marks: dict[tuple[int, int], str] = {}
    for source in names:
        for system in result.systems:
            cells = [result.cell(system, source, target) for target in names]
            learnt = next((cell.learnt for cell in cells if cell is not None), "")
            marks |= {(len(rows), column): mark_of(cell) for column, cell in enumerate(cells, start=3)}
            rows.append((source, system, learnt, *(None if cell is None else cell.mean for cell in cells)))
    columns = ("trained on", "system", "learnt", *names)
    table = Table("cross", f"{MEASURE} by test collection", columns, tuple(rows), best=True, marks=marks, note=NOTE)
    about = (
        "Each system learns from the topics of one collection and ranks those of another, with the candidates and the "
        "statistics of the latter. μ of the language model, weights of mixtures (m1 is the document's) and settings of "
        "rankers are those learnt from all topics of the training collection."
    )
    return [Paragraph(about), table, *(Paragraph(f"Left out: {reason}.") for reason in result.left_out)]


def _cost_blocks(result: CrossResult) -> list[Block]:
    """The difference of each cell to the diagonal of its column."""
    rows: list[tuple[Cell, ...]] = []
    names = list(result.sizes)
    for source in names:
        for system in result.systems:
            cells: list[Cell] = []
            for target in names:
                cell = result.cell(system, source, target)
                compared = None if cell is None else cell.own
                if compared is None:
                    cells.append(None)
                else:
                    sign = "*" if compared.significant else ""
                    cells.append(f"{format_difference(compared.difference)}{sign}")
            rows.append((source, system, *cells))
    note = "* significant (randomisation test, Holm over a column, p < .05)."
    caption = f"Difference of {MEASURE} to the same system trained on the test collection itself (cross-validated)"
    return [Table("cross-cost", caption, ("trained on", "system", *names), tuple(rows), note=note)]


def _classifier_blocks(result: CrossResult, seed: int) -> list[Block]:
    """The SVM classifier against the language model, cell by cell, with p-values as in the lecture's table."""
    classifier = next((system for system in result.systems if system.split(",")[0] == "svm"), None)
    compared = {} if classifier is None else result.compare(classifier, LANGUAGE_MODEL, seed=seed)
    if not compared:
        return []
    names = list(result.sizes)
    rows: list[tuple[Cell, ...]] = []
    for source in names:
        cells = []
        for target in names:
            each = compared.get((source, target))
            winner = "" if each is None else "SVM" if each.difference > 0 else "LM"
            cells.append(None if each is None else f"{winner} ({format_p_value(each.p)})")
        rows.append((source, *cells))
    wins = sum(each.p < ALPHA and each.difference > 0 for each in compared.values())
    losses = sum(each.p < ALPHA and each.difference < 0 for each in compared.values())
    about = (
        f"The SVM classifier is significantly better than the language model in {wins} of {len(compared)} cells and "
        f"worse in {losses}; in the lecture's table of four TREC collections in 2 and 6 of 16."
    )
    note = "The better of the two, and p of the randomisation test, not corrected, as in the lecture."
    caption = f"SVM classifier against the language model by {MEASURE}"
    return [Paragraph(about), Table("svm-lm", caption, ("trained on", *names), tuple(rows), note=note)]
