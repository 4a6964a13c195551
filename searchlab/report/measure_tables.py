"""Tables of evaluations and comparisons for a paper: means, the best in bold, marks for significant differences."""

from __future__ import annotations

import string
from collections.abc import Sequence

from searchlab.evaluation.comparison import Comparison, ComparisonTable
from searchlab.evaluation.measure_families import TOTAL
from searchlab.evaluation.measures import parse_measure
from searchlab.evaluation.number_text import format_count
from searchlab.evaluation.run_evaluation import Evaluation
from searchlab.report.content import Cell, Table
from searchlab.report.latex_page import render_latex_table

# The marks of a mean that is significantly better or worse than the baseline's.
BETTER, WORSE = "▲", "▼"
_TEST = "randomisation test, p < .05"


def format_evaluation_latex(evaluations: Sequence[Evaluation], *, per_topic: bool = False) -> str:
    """A table for LaTeX: a row for each run or, with `per_topic`, also for each of its topics."""
    measures = evaluations[0].measures
    rows: list[tuple[Cell, ...]] = []
    for evaluation in evaluations:
        if per_topic:
            for qid, values in zip(evaluation.qids, evaluation.values.tolist(), strict=True):
                rows.append((f"{evaluation.name}, {qid}", *map(_cell, measures, values)))
        rows.append((evaluation.name, *(_cell(name, evaluation.means[name]) for name in measures)))
    sizes = sorted({evaluation.n_topics for evaluation in evaluations})
    topics = format_count(sizes[0], "topic") if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} topics"
    rules = f"{evaluations[0].dialect.describe()}."
    note = f"{rules[0].upper()}{rules[1:]}"
    columns = ("run", *measures)
    return render_latex_table(
        Table("measures", f"Means over {topics}.", columns, tuple(rows), best=not per_topic, note=note)
    )


def format_comparison_latex(table: ComparisonTable) -> str:
    """A table for LaTeX: the means of all systems, marked where they differ significantly.

    If all systems were compared with one baseline, marks say better or worse. Otherwise each system has a letter, and
    a mean has the letters of the systems than which it is significantly better.
    """
    measures = list(dict.fromkeys(each.measure for each in table.comparisons))
    baselines = list(dict.fromkeys(each.name_b for each in table.comparisons))
    names = list(dict.fromkeys([*baselines[:1], *(each.name_a for each in table.comparisons), *baselines]))
    means = {(each.name_a, each.measure): each.mean_a for each in table.comparisons}
    means |= {(each.name_b, each.measure): each.mean_b for each in table.comparisons}
    marks: dict[tuple[int, int], str] = {}
    for each in table.comparisons:
        if each.significant:
            name, mark = _mark(each, names, letters=len(baselines) > 1)
            place = names.index(name), measures.index(each.measure) + 1
            marks[place] = "".join(sorted(marks.get(place, "") + mark))
    corrected = any(each.p_corrected is not None for each in table.comparisons)
    if len(baselines) > 1:
        labels = {name: f"{name} ({_letter(names, name)})" for name in names}
        meaning = "A letter: significantly better than the system with this letter: "
    else:
        labels = {name: name for name in names}
        meaning = f"{BETTER} significantly better, {WORSE} significantly worse than {baselines[0]}: "
    correction = " after Holm's correction over the pairs" if corrected else ""
    rows: list[tuple[Cell, ...]] = [(labels[name], *(means[name, measure] for measure in measures)) for name in names]
    caption = f"Means over {format_count(table.n_topics, 'topic')}."
    note = f"{meaning}{_TEST}{correction}."
    return render_latex_table(
        Table("comparison", caption, ("run", *measures), tuple(rows), best=True, marks=marks, note=note)
    )


def _mark(each: Comparison, names: list[str], *, letters: bool) -> tuple[str, str]:
    """The system whose mean is marked, and the mark."""
    if not letters:
        return each.name_a, BETTER if each.difference > 0 else WORSE
    better, worse = (each.name_a, each.name_b) if each.difference > 0 else (each.name_b, each.name_a)
    return better, _letter(names, worse)


def _letter(names: list[str], name: str) -> str:
    number = names.index(name)
    return string.ascii_letters[number] if number < len(string.ascii_letters) else f"({number + 1})"


def _cell(measure: str, value: float) -> Cell:
    """A count as a whole number."""
    return round(value) if parse_measure(measure).summary == TOTAL else value
