"""Output formats of evaluations and comparisons.

    table   aligned columns for reading
    trec    exactly as trec_eval prints: name, topic or all, value
    csv     a line for each run and topic, all digits
    json    everything, all digits

LaTeX tables are in `report/measure_tables.py`. Runs have different names. Each function returns text without a final
line end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from searchlab.csv_text import Cell, to_csv
from searchlab.evaluation.comparison import Comparison, ComparisonTable
from searchlab.evaluation.measure_families import GEOMETRIC, TOTAL
from searchlab.evaluation.measures import parse_measure
from searchlab.evaluation.number_text import format_count, format_p_value
from searchlab.evaluation.run_evaluation import Evaluation

ALL = "all"
# Above this number of measures a table has a row for each measure instead of a column.
MAX_COLUMNS = 12


def format_table(evaluations: Sequence[Evaluation], *, per_topic: bool = False) -> str:
    """Aligned columns: a row for each run or, with `per_topic`, for each topic and for all topics.

    Many measures are a row each, with a column for each run.
    """
    measures = evaluations[0].measures
    if len(measures) > MAX_COLUMNS and not per_topic:
        by_measure = [[name, *(_cell(name, evaluation.means[name]) for evaluation in evaluations)] for name in measures]
        names, sizes = zip(*((each.name, f"{each.n_topics:,}") for each in evaluations), strict=True)
        return _align([["measure", *names], *by_measure, ["topics", *sizes]], 1)
    rows: list[list[str]] = [["run", *(["topic"] if per_topic else []), *measures, *([] if per_topic else ["topics"])]]
    for evaluation in evaluations:
        means = [_cell(name, evaluation.means[name]) for name in measures]
        if not per_topic:
            rows.append([evaluation.name, *means, f"{evaluation.n_topics:,}"])
            continue
        for qid, values in zip(evaluation.qids, evaluation.values.tolist(), strict=True):
            rows.append([evaluation.name, qid, *map(_cell, measures, values)])
        rows.append([evaluation.name, ALL, *means])
    return _align(rows, 2 if per_topic else 1)


def format_trec(evaluations: Sequence[Evaluation], *, per_topic: bool = False) -> str:
    """trec_eval's lines; if there are several runs, a line `runid` precedes each."""
    lines = []
    for evaluation in evaluations:
        if len(evaluations) > 1:
            lines.append(f"{'runid':<22}\t{ALL}\t{evaluation.name}")
        measures = [parse_measure(name) for name in evaluation.measures]
        # trec_eval's names are for values that follow trec_eval's rules only.
        is_trec = evaluation.dialect.name == "trec"
        names = [measure.trec_name if is_trec else measure.name for measure in measures]
        for qid, values in zip(evaluation.qids, evaluation.values.tolist(), strict=True):
            if per_topic:
                for name, measure, value in zip(names, measures, values, strict=True):
                    if measure.family != "NumQ" and measure.summary != GEOMETRIC:
                        lines.append(f"{name:<22}\t{qid}\t{_cell(measure.name, value)}")
        for name, measure in zip(names, measures, strict=True):
            lines.append(f"{name:<22}\t{ALL}\t{_cell(measure.name, evaluation.means[measure.name])}")
    return "\n".join(lines)


def format_csv(evaluations: Sequence[Evaluation], *, per_topic: bool = False) -> str:
    """A header, and a line for each run and topic (`all` for the mean)."""
    rows: list[list[Cell]] = [["run", "topic", *evaluations[0].measures]]
    for evaluation in evaluations:
        if per_topic:
            for qid, values in zip(evaluation.qids, evaluation.values.tolist(), strict=True):
                rows.append([evaluation.name, qid, *values])
        rows.append([evaluation.name, ALL, *evaluation.means.values()])
    return to_csv(rows).removesuffix("\n")


def format_json(evaluations: Sequence[Evaluation], *, per_topic: bool = False) -> str:
    """One object: the rules of the dialect, and the means, topics and left out topics of each run."""
    dialect = evaluations[0].dialect
    record: dict[str, Any] = {"dialect": dialect.name, "rules": dialect.describe(), "runs": []}
    for evaluation in evaluations:
        run: dict[str, Any] = {
            "run": evaluation.name,
            "topics": evaluation.n_topics,
            "complete": evaluation.complete,
            "missing": list(evaluation.missing),
            "unjudged": list(evaluation.unjudged),
            "without_relevant": list(evaluation.without_relevant),
            "means": evaluation.means,
        }
        if per_topic:
            rows = zip(evaluation.qids, evaluation.values.tolist(), strict=True)
            run["values"] = {qid: dict(zip(evaluation.measures, values, strict=True)) for qid, values in rows}
        record["runs"].append(run)
    return json.dumps(record, ensure_ascii=False, indent=2)


FORMATS: dict[str, Callable[..., str]] = {
    "table": format_table,
    "trec": format_trec,
    "csv": format_csv,
    "json": format_json,
}


def format_comparison_table(table: ComparisonTable) -> str:
    """A table for each measure: means, differences, numbers of topics won and lost, and the p-values of all tests."""
    header = ["", "mean", "against", "difference", "95% interval", "better", "equal", "worse"]
    header += ["randomisation", "t test", "sign test", "corrected"]
    blocks = []
    for measure in dict.fromkeys(comparison.measure for comparison in table.comparisons):
        of_measure = [comparison for comparison in table.comparisons if comparison.measure == measure]
        rows = [header]
        baselines = {comparison.name_b: comparison.mean_b for comparison in of_measure}
        compared = {comparison.name_a for comparison in of_measure}
        rows += [[name, f"{mean:.4f}", *[""] * 10] for name, mean in baselines.items() if name not in compared]
        rows += [_comparison_row(comparison) for comparison in of_measure]
        if len(of_measure) == 1:
            rows = [row[:-1] for row in rows]
        blocks.append(f"{measure}, {format_count(table.n_topics, 'topic')}\n{_align(rows, 1)}")
    return "\n\n".join(blocks)


def format_comparison_json(table: ComparisonTable) -> str:
    """One object with all comparisons, all digits."""
    comparisons = [
        {
            "system": each.name_a,
            "against": each.name_b,
            "measure": each.measure,
            "topics": each.n_topics,
            "means": [each.mean_a, each.mean_b],
            "difference": each.difference,
            "interval": [each.interval.low, each.interval.high],
            "wins": each.wins,
            "ties": each.ties,
            "losses": each.losses,
            "p": {"randomisation": each.p, "t": each.t.p, "sign": each.sign.p, "corrected": each.p_corrected},
            "significant": each.significant,
            "sentence": each.sentence(),
        }
        for each in table.comparisons
    ]
    return json.dumps(
        {"topics": table.n_topics, "left_out": list(table.left_out), "comparisons": comparisons},
        ensure_ascii=False,
        indent=2,
    )


COMPARISON_FORMATS: dict[str, Callable[[ComparisonTable], str]] = {
    "table": format_comparison_table,
    "json": format_comparison_json,
}


def _comparison_row(each: Comparison) -> list[str]:
    interval = f"{each.interval.low:+.4f} to {each.interval.high:+.4f}"
    counts = [f"{n:,}" for n in (each.wins, each.ties, each.losses)]
    p_values = (each.p, each.t.p, each.sign.p, each.p_corrected)
    return [
        each.name_a,
        f"{each.mean_a:.4f}",
        each.name_b,
        f"{each.difference:+.4f}",
        interval,
        *counts,
        *("" if p is None else format_p_value(p).removeprefix("p ").removeprefix("= ") for p in p_values),
    ]


def _cell(measure: str, value: float) -> str:
    """A value as trec_eval prints it: counts are whole numbers, other values have four decimals."""
    return f"{value:.0f}" if parse_measure(measure).summary == TOTAL else f"{value:6.4f}"


def _align(rows: list[list[str]], n_labels: int) -> str:
    """Columns of equal width: labels are aligned to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            f"{cell:<{width}}" if column < n_labels else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
