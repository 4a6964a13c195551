"""`searchlab eval`: evaluate runs against judgments."""

from __future__ import annotations

from typing import Annotated

import typer

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
from searchlab.cli.messages import note
from searchlab.cli.options import DialectOption
from searchlab.errors import unknown_name

DEFAULT_MEASURES = ["nDCG@10", "AP", "P@10", "RR", "R@1000"]


@app.command("eval")
def eval_command(
    qrels: QrelsArgument = None,
    runs: RunsArgument = None,
    measures: MeasuresOption = None,
    per_topic: Annotated[bool, typer.Option("--per-topic", help="Print the values of each topic, too.")] = False,
    complete: CompleteOption = False,
    dialect: DialectOption = "trec",
    level: LevelOption = None,
    format: Annotated[
        str, typer.Option("--format", metavar="table|trec|csv|json|latex", help="How the results are printed")
    ] = "table",
    listing: Annotated[bool, typer.Option("--list", help="List all measures and dialects, and exit.")] = False,
) -> None:
    """Evaluate runs against judgments.

    By default nDCG@10, AP, P@10, RR and R@1000, with the rules and the numbers of trec_eval.
    """
    from searchlab.evaluation.formatting import FORMATS
    from searchlab.report.measure_tables import format_evaluation_latex

    if listing:
        _list_measures()
        return
    formats = {**FORMATS, "latex": format_evaluation_latex}
    if format not in formats:
        raise unknown_name("format", format, formats)
    rules = make_rules(dialect, level)
    evaluated = evaluate_files(qrels, runs, measures or DEFAULT_MEASURES, rules, complete=complete, min_runs=1)
    print(formats[format]([run.evaluation for run in evaluated], per_topic=per_topic))
    if format == "table":
        print(f"\n{rules.describe()}")
    elif format in ("trec", "csv"):
        note(rules.describe())
    warn_of_gaps_and_ties(evaluated)


def _list_measures() -> None:
    from searchlab.evaluation.dialects import DIALECTS
    from searchlab.evaluation.measure_families import FAMILIES, MEASURE_SETS, TREC_NAMES

    trec_names: dict[str, list[str]] = {name: [] for name in FAMILIES}
    for trec_name, (family_name, with_cutoff) in TREC_NAMES.items():
        trec_names[family_name].append(f"{trec_name}_k" if with_cutoff else trec_name)
    print("measure                other names                         meaning")
    for family in FAMILIES.values():
        settings = f"({', '.join(family.settings)})" if family.settings else ""
        cutoff = {"required": "@k", "optional": "[@k]", "none": ""}[family.cutoff]
        others = ", ".join([*family.aliases, *(name for name in trec_names[family.name] if name != family.name)])
        print(f"{family.name + settings + cutoff:22} {others:35} {family.description}")
    print(f"\nSets of measures, with trec_eval's names and order: {', '.join(MEASURE_SETS)}.")
    print("Such as nDCG@10, AP(rel=2), nDCG(dcg='exp-log2')@10. A dialect decides what a name leaves open:\n")
    for dialect in DIALECTS.values():
        print(dialect.describe())
