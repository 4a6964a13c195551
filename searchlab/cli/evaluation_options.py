"""Arguments and options that `eval` and `compare` share, and the evaluation of their runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.collection_files import read_qrels_of
from searchlab.cli.messages import list_names, warn, warn_of_encodings
from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import SettingError
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.evaluation.dialects import Dialect
    from searchlab.evaluation.run_evaluation import Evaluation
    from searchlab.evaluation.ties import TieRange

QrelsArgument = Annotated[
    str | None,
    typer.Argument(metavar="QRELS", help="Judgments: qrels, a LETOR file, a collection's folder, or ir_datasets:NAME"),
]
RunsArgument = Annotated[list[str] | None, typer.Argument(metavar="RUN", help="TREC runs; - is standard input")]
MeasuresOption = Annotated[
    list[str] | None,
    typer.Option(
        "-m",
        "--measure",
        metavar="NAME",
        help="Such as nDCG@10, AP(rel=2) or nDCG@10,map,all_trec; repeatable; eval --list lists all",
    ),
]
CompleteOption = Annotated[
    bool,
    typer.Option("-c", "--complete", help="Count 0 for judged topics that a run lacks, instead of leaving them out."),
]
LevelOption = Annotated[
    int | None, typer.Option("-l", "--level", metavar="GRADE", help="The lowest grade that counts as relevant")
]


@dataclass(frozen=True, eq=False)
class EvaluatedRun:
    """A run's evaluation, how far equal scores could move it, and what is doubtful about its ids.

    `gap` is the likely cause of topics that are not judged.
    """

    evaluation: Evaluation
    ties: TieRange
    doubt: str = ""
    gap: str = ""


def make_rules(dialect: str, level: int | None) -> Dialect:
    """The rules of a dialect, with another level of relevance if one is given."""
    from searchlab.evaluation.dialects import make_dialect

    rules = make_dialect(dialect)
    if level is not None and level < 1:
        raise SettingError(f"level is {level}, expected a whole number of at least 1: the lowest relevant grade")
    return rules if level is None else replace(rules, rel=level)


def evaluate_files(
    qrels: str | None, runs: list[str] | None, measures: list[str], rules: Dialect, *, complete: bool, min_runs: int
) -> list[EvaluatedRun]:
    """The evaluations of run files."""
    from searchlab.evaluation.file_checks.run_doubts import explain_gap, find_doubt
    from searchlab.evaluation.measure_plan import make_plan
    from searchlab.evaluation.run_evaluation import evaluate_graded_run, grade_run
    from searchlab.evaluation.ties import evaluate_graded_ties

    plan = make_plan(measures, rules)
    if qrels is None or not runs or len(runs) < min_runs:
        expected = "a run" if min_runs == 1 else "two runs"
        raise SettingError(f"expected judgments and at least {expected}, found {format_count(len(runs or []), 'run')}")
    if [qrels, *runs].count("-") > 1:
        raise SettingError("standard input (-) is named twice; it can be read once")
    notes = searchlab.ReadingNotes()
    judgments = read_qrels_of(qrels, notes)
    evaluated = []
    for run, label in zip(runs, _label_runs(runs), strict=True):
        rankings = searchlab.read_run(run, notes=notes)
        graded = grade_run(judgments, rankings, dialect=rules, complete=complete, name=run)
        graded = replace(graded, name=label)
        doubt = find_doubt(judgments, rankings, graded)
        evaluated.append(
            EvaluatedRun(
                evaluate_graded_run(graded, plan),
                evaluate_graded_ties(graded, plan),
                doubt,
                "" if doubt else explain_gap(graded),
            )
        )
    warn_of_encodings(notes)
    return evaluated


def warn_of_gaps_and_ties(evaluated: list[EvaluatedRun]) -> None:
    """Warn of ids that do not fit, of topics that were left out or count 0, and of ties that could move a mean."""
    for run in evaluated:
        evaluation = run.evaluation
        name = evaluation.name
        if run.doubt:
            warn(f"{name}: {run.doubt}")
        if evaluation.missing:
            effect = "they count 0" if evaluation.complete else "they are left out, and -c counts 0 for them"
            topics = format_count(evaluation.n_missing, "judged topic")
            warn(f"{name}: {topics} not in the run: {list_names(evaluation.missing)}; {effect}")
        if evaluation.unjudged:
            topics = format_count(evaluation.n_unjudged, "topic")
            warn(f"{name}: {topics} without judgments left out: {list_names(evaluation.unjudged)}{run.gap}")
        if evaluation.without_relevant:
            topics = format_count(len(evaluation.without_relevant), "topic")
            listed = list_names(evaluation.without_relevant)
            warn(f"{name}: {topics} without relevant documents: {listed}; they count 0")
        if warning := run.ties.warning():
            warn(warning)


def _label_runs(runs: list[str]) -> list[str]:
    """The names of runs in tables: those of the files, without folder and suffix if they are then still distinct."""
    for names in ([Path(run).name.split(".")[0] or run for run in runs], [Path(run).name for run in runs], runs):
        shown = list(map(shown_path, names))
        if len(set(shown)) == len(shown):
            return shown
    raise SettingError(f"a run is named twice: {', '.join(runs)}")
