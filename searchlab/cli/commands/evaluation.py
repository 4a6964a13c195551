"""How are runs evaluated, compared and fused from the command line?"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.app import app, count, note, warn_of_latin1
from searchlab.errors import SettingError, SourceError, name_some, unknown_name

if TYPE_CHECKING:
    from searchlab.corpus import ReadingNotes
    from searchlab.evaluation.dialects import Dialect
    from searchlab.evaluation.run_evaluation import Evaluation
    from searchlab.evaluation.ties import TieRange
    from searchlab.records import Qrels, Ranking

DEFAULT_MEASURES = ["nDCG@10", "AP", "P@10", "RR", "R@1000"]
COMPARED_MEASURES = ["nDCG@10", "AP"]
# How many topics a note names.
NAMED = 10

QrelsArgument = Annotated[
    str | None,
    typer.Argument(metavar="QRELS", help="Judgments: a file, a collection's folder, or ir_datasets:NAME"),
]
RunsArgument = Annotated[list[str] | None, typer.Argument(metavar="RUN...", help="TREC runs; - is standard input")]
MeasureOption = Annotated[
    list[str] | None,
    typer.Option("-m", "--measure", metavar="NAME", help="As nDCG@10, AP(rel=2), ndcg_cut_10; eval --list lists all"),
]
CompleteOption = Annotated[
    bool,
    typer.Option("-c", "--complete", help="Count 0 for judged topics that a run lacks, instead of leaving them out."),
]
DialectOption = Annotated[str, typer.Option("--dialect", help="The rules: trec, letor3, letor4 or paper")]
LevelOption = Annotated[
    int | None, typer.Option("-l", "--level", metavar="GRADE", help="The least grade that counts as relevant")
]


@app.command("eval")
def eval_command(
    qrels: QrelsArgument = None,
    runs: RunsArgument = None,
    measures: MeasureOption = None,
    per_topic: Annotated[bool, typer.Option("-q", "--per-topic", help="Print the values of each topic, too.")] = False,
    complete: CompleteOption = False,
    dialect: DialectOption = "trec",
    level: LevelOption = None,
    format: Annotated[str, typer.Option("--format", help="table, trec, csv, json or latex")] = "table",
    listing: Annotated[bool, typer.Option("--list", help="List all measures and dialects, and end.")] = False,
) -> None:
    """Evaluate runs against judgments."""
    from searchlab.evaluation.formatting import FORMATS

    if listing:
        _list_measures()
        return
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    rules = _rules(dialect, level)
    evaluated = _evaluate(qrels, runs, measures or DEFAULT_MEASURES, rules, complete=complete, at_least=1)
    evaluations = [evaluation for evaluation, _ in evaluated]
    print(FORMATS[format](evaluations, per_topic=per_topic))
    if format == "table":
        print(f"\n{rules.describe()}")
    elif format in ("trec", "csv"):
        note(rules.describe())
    _tell(evaluated)


@app.command("compare")
def compare_command(
    qrels: QrelsArgument = None,
    runs: RunsArgument = None,
    measures: MeasureOption = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="RUN", help="What the others are held against [default: the first]"),
    ] = None,
    all_pairs: Annotated[bool, typer.Option("--all-pairs", help="Compare each run with each other.")] = False,
    complete: CompleteOption = False,
    dialect: DialectOption = "trec",
    level: LevelOption = None,
    seed: Annotated[int, typer.Option("--seed", help="For the randomisation test and the interval")] = 0,
    format: Annotated[str, typer.Option("--format", help="table or json")] = "table",
) -> None:
    """Say whether runs differ by more than chance, topic by topic."""
    from searchlab.evaluation.comparison import check_comparable, compare_evaluations
    from searchlab.evaluation.formatting import format_comparison_json, format_comparison_table

    if format not in ("table", "json"):
        raise unknown_name("format", format, ["table", "json"])
    if seed < 0:
        raise SettingError(f"seed is {seed}, expected a whole number of at least 0")
    names = measures or COMPARED_MEASURES
    rules = _rules(dialect, level)
    for name in names:
        check_comparable(name)
    evaluated = _evaluate(qrels, runs, names, rules, complete=complete, at_least=2)
    evaluations = [evaluation for evaluation, _ in evaluated]
    labels = dict(zip(runs or [], [evaluation.name for evaluation in evaluations], strict=True))
    report = compare_evaluations(
        evaluations, baseline=labels.get(baseline or "", baseline), all_pairs=all_pairs, seed=seed
    )
    if format == "json":
        print(format_comparison_json(report))
    else:
        print(format_comparison_table(report), "", *report.sentences(), "", rules.describe(), sep="\n")
        if len(report.comparisons) > len(names):
            print(
                "p-values are corrected (Holm) over the pairs of each measure; the verdict is the randomisation test's"
            )
    if report.left_out:
        told = name_some(report.left_out, NAMED)
        note(f"{count(len(report.left_out), 'topic')} left out, which not all runs have: {told}; -c counts 0 for them")
    _tell(evaluated)


@app.command("fuse")
def fuse_command(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="TREC runs; - is standard input")],
    method: Annotated[
        str, typer.Option("--method", help="rrf (reciprocal ranks), combsum, combmnz (normalised scores) or borda")
    ] = "rrf",
    k: Annotated[int, typer.Option("-k", help="How many results for each topic")] = 1000,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="- is standard output")] = "-",
    tag: Annotated[str | None, typer.Option("--tag", help="The run's name [default: the method's]")] = None,
) -> None:
    """Fuse several runs into one, and write it."""
    import searchlab
    from searchlab.atomic_file import open_atomic
    from searchlab.evaluation.fusion import METHODS, fuse

    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if len(runs) < 2:
        raise SettingError("found 1 run, expected at least two to fuse")
    notes = searchlab.ReadingNotes()
    fused = fuse([_read_run(run, notes) for run in runs], method, k=k)
    warn_of_latin1(notes)
    with nullcontext(sys.stdout) if output == "-" else open_atomic(output) as file:
        searchlab.write_run(file, fused, tag or method)
    results = count(sum(len(ranking.docnos) for ranking in fused), "result")
    where = "" if output == "-" else f" → {output}"
    note(f"{count(len(runs), 'run')} fused by {method}: {count(len(fused), 'topic')}, {results}{where}")


def _list_measures() -> None:
    from searchlab.evaluation.dialects import DIALECTS
    from searchlab.evaluation.measure_families import FAMILIES, TREC_NAMES

    trec_names: dict[str, list[str]] = {name: [] for name in FAMILIES}
    for trec, (own, with_cutoff) in TREC_NAMES.items():
        trec_names[own].append(f"{trec}_k" if with_cutoff else trec)
    print("measure                other names                         what it says")
    for family in FAMILIES.values():
        settings = f"({', '.join(family.settings)})" if family.settings else ""
        cutoff = {"required": "@k", "optional": "[@k]", "none": ""}[family.cutoff]
        others = ", ".join([*family.aliases, *(name for name in trec_names[family.name] if name != family.name)])
        print(f"{family.name + settings + cutoff:22} {others:35} {family.description}")
    print("\nAs nDCG@10, AP(rel=2), nDCG(dcg='exp-log2')@10; what a name leaves open is up to the dialect:\n")
    for dialect in DIALECTS.values():
        print(dialect.describe())


def _rules(dialect: str, level: int | None) -> Dialect:
    from searchlab.evaluation.dialects import make_dialect

    rules = make_dialect(dialect)
    if level is not None and level < 1:
        raise SettingError(f"level is {level}, expected a whole number of at least 1: the least relevant grade")
    return rules if level is None else replace(rules, rel=level)


def _evaluate(
    qrels: str | None, runs: list[str] | None, measures: list[str], rules: Dialect, *, complete: bool, at_least: int
) -> list[tuple[Evaluation, TieRange]]:
    import searchlab
    from searchlab.evaluation.measure_plan import make_plan
    from searchlab.evaluation.run_evaluation import evaluate_graded_run, grade_run
    from searchlab.evaluation.ties import evaluate_graded_ties

    plan = make_plan(measures, rules)
    if qrels is None or not runs or len(runs) < at_least:
        wanted = "a run" if at_least == 1 else "two runs"
        raise SettingError(f"expected judgments and at least {wanted}, found {count(len(runs or []), 'run')}")
    if [qrels, *runs].count("-") > 1:
        raise SettingError("standard input (-) is named twice; it can be read once")
    notes = searchlab.ReadingNotes()
    judgments = _read_qrels(qrels, notes)
    evaluated = []
    for run, label in zip(runs, _labels(runs), strict=True):
        judged = grade_run(judgments, _read_run(run, notes), dialect=rules, complete=complete, name=run)
        judged = replace(judged, name=label)
        evaluated.append((evaluate_graded_run(judged, plan), evaluate_graded_ties(judged, plan)))
    warn_of_latin1(notes)
    return evaluated


def _read_qrels(source: str, notes: ReadingNotes) -> Qrels:
    """The judgments of a file, or those that lie in the folder of a collection."""
    import searchlab

    if Path(source).is_dir():
        collection = searchlab.find_collection(source)
        if collection is None or not collection.qrels:
            raise SourceError(source, "expected a file of judgments, found a folder without any")
        note(f"judgments: {collection.qrels[0]}")
        return searchlab.read_qrels(collection.qrels[0], notes=notes)
    return searchlab.read_qrels(source, notes=notes)


def _read_run(source: str, notes: ReadingNotes) -> list[Ranking]:
    import searchlab

    return searchlab.read_run(source, notes=notes)


def _labels(runs: list[str]) -> list[str]:
    """The names of runs in tables: those of the files without folder and suffix, if they are all different."""
    for names in ([Path(run).name.split(".")[0] or run for run in runs], [Path(run).name for run in runs], runs):
        if len(set(names)) == len(names):
            return list(names)
    raise SettingError(f"a run is named twice: {', '.join(runs)}")


def _tell(evaluated: list[tuple[Evaluation, TieRange]]) -> None:
    """What a reader of the numbers should know, on standard error."""
    for evaluation, ties in evaluated:
        name = evaluation.name
        if evaluation.missing:
            fate = "they count 0" if evaluation.complete else "they are left out, and -c counts 0 for them"
            n = count(evaluation.n_missing, "judged topic")
            note(f"{name}: {n} not in the run: {name_some(evaluation.missing, NAMED)}; {fate}")
        if evaluation.unjudged:
            n = count(evaluation.n_unjudged, "topic")
            note(f"{name}: {n} without judgments left out: {name_some(evaluation.unjudged, NAMED)}")
        if evaluation.without_relevant:
            n = count(len(evaluation.without_relevant), "topic")
            note(
                f"{name}: {n} without relevant documents: {name_some(evaluation.without_relevant, NAMED)}; they count 0"
            )
        if warning := ties.warning():
            note(f"warning: {warning}")
