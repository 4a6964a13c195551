"""`searchlab compare`: whether runs differ by more than chance."""

from __future__ import annotations

from typing import Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.evaluation_options import (
    CompleteOption,
    LevelOption,
    MeasuresOption,
    QrelsArgument,
    RunsArgument,
    evaluate_files,
    make_rules,
    warn_of_gaps_and_ties,
)
from searchlab.cli.messages import list_names, note, warn
from searchlab.cli.options import DialectOption
from searchlab.errors import SettingError, unknown_name
from searchlab.evaluation.number_text import format_count

DEFAULT_MEASURES = ["nDCG@10", "AP"]


@app.command("compare")
def compare_command(
    qrels: QrelsArgument = None,
    runs: RunsArgument = None,
    measures: MeasuresOption = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="RUN", help="The run to compare the others with [default: the first]"),
    ] = None,
    all_pairs: Annotated[bool, typer.Option("--all-pairs", help="Compare each run with each other run.")] = False,
    complete: CompleteOption = False,
    dialect: DialectOption = "trec",
    level: LevelOption = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Seed of the randomisation test and the bootstrap interval")
    ] = 0,
    format: Annotated[
        str, typer.Option("--format", metavar="table|json|latex", help="How the results are printed")
    ] = "table",
) -> None:
    """Test whether runs differ by more than chance.

    A paired randomisation test, corrected for the number of pairs (Holm); t-test, sign test and bootstrap interval.
    """
    from searchlab.evaluation.comparison import check_comparable
    from searchlab.evaluation.formatting import COMPARISON_FORMATS
    from searchlab.evaluation.measures import parse_measures
    from searchlab.report.measure_tables import format_comparison_latex

    formats = {**COMPARISON_FORMATS, "latex": format_comparison_latex}
    if format not in formats:
        raise unknown_name("format", format, formats)
    if seed < 0:
        raise SettingError(f"seed is {seed}, expected a whole number of at least 0")
    names = [measure.name for measure in parse_measures(measures or DEFAULT_MEASURES)]
    rules = make_rules(dialect, level)
    for name in names:
        check_comparable(name)
    evaluated = evaluate_files(qrels, runs, names, rules, complete=complete, min_runs=2)
    evaluations = [run.evaluation for run in evaluated]
    labels = dict(zip(runs or [], [evaluation.name for evaluation in evaluations], strict=True))
    baseline = labels.get(baseline or "", baseline)
    report = searchlab.compare_evaluations(evaluations, baseline=baseline, all_pairs=all_pairs, seed=seed)
    print(formats[format](report))
    if format == "latex":
        note(rules.describe())
    elif format == "table":
        print("", *report.sentences(), "", rules.describe(), sep="\n")
        if len(report.comparisons) > len(names):
            print(
                "p-values are corrected (Holm) over the pairs of each measure; verdicts follow the randomisation test"
            )
    if report.left_out:
        topics = format_count(len(report.left_out), "topic")
        warn(f"{topics} left out, which not all runs have: {list_names(report.left_out)}; -c counts 0 for them")
    warn_of_gaps_and_ties(evaluated)
