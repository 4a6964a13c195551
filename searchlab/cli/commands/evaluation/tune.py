"""`searchlab tune`: choose the settings of a scorer on judged topics."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.collection_files import read_judged_topics
from searchlab.cli.messages import is_verbose, note
from searchlab.cli.options import (
    ClusterOption,
    DialectOption,
    DivideOption,
    IndexOption,
    JsonOption,
    QrelsOption,
    TopicIdsOption,
    TopicsOption,
    choose_index,
    open_cluster,
)
from searchlab.cli.progress import stage_bar
from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.experiments.scorer_tuning import Tuning

# Longer lists of settings are cut, the best first, unless the user wants details.
MAX_POINTS = 10


@app.command("tune")
def tune_command(
    index: IndexOption = None,
    topics: TopicsOption = None,
    topic_ids: TopicIdsOption = "written",
    qrels: QrelsOption = None,
    scorer: Annotated[
        str, typer.Option("--scorer", metavar="NAME", help="The scorer to tune, such as bm25 or dirichlet")
    ] = "bm25",
    grid: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="NAME=VALUES", help="Values to try, such as k1=0.6,0.9,1.2; repeatable"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the scorer that is not tuned, such as b=0.4"),
    ] = None,
    measure: Annotated[
        str, typer.Option("-m", "--measure", metavar="NAME", help="The measure to choose settings by")
    ] = "nDCG@10",
    dialect: DialectOption = "trec",
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation")] = 5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed for the folds and the test")] = 0,
    as_json: JsonOption = False,
    cluster: ClusterOption = None,
    divide: DivideOption = "auto",
) -> None:
    """Choose the settings of a scorer on judged topics.

    Cross-validation says what the chosen settings are worth on topics that did not choose them.
    """
    from searchlab.experiments.scorer_tuning import tune
    from searchlab.retrieval.distributed.shard_division import require_division

    require_division(divide)
    values = _read_grid(grid or [])
    if seed < 0:
        raise SettingError(f"--seed is {seed}, expected a whole number from 0")
    folder = choose_index(index)
    tuning_topics, judgments = read_judged_topics(folder, topics, qrels, "tune by", topic_ids=topic_ids)
    with open_cluster(cluster) as connected, stage_bar() as progress:
        tuning = tune(
            searchlab.open(folder),
            tuning_topics,
            judgments,
            scorer,
            values,
            settings=dict(pairs(settings or (), "--set")),
            measure=measure,
            dialect=dialect,
            n_folds=folds,
            seed=seed,
            cluster=connected,
            divide=divide,
            progress=progress,
        )
    if tuning.n_skipped:
        note(f"{format_count(tuning.n_skipped, 'topic')} without a relevant document left out")
    if as_json:
        print(json.dumps(_as_record(tuning), ensure_ascii=False, indent=2))
    else:
        _print_tuning(tuning)


def _read_grid(given: list[str]) -> dict[str, list[str]]:
    grid: dict[str, list[str]] = {}
    for name, text in pairs(given, "--grid", "k1=0.6,0.9,1.2"):
        if name in grid:
            raise SettingError(f"--grid {name} is given twice, expected all its values in one list")
        grid[name] = list(dict.fromkeys(value.strip() for value in text.split(",") if value.strip()))
        if not grid[name]:
            raise SettingError(f"--grid {name}: found no values, expected some, such as k1=0.6,0.9,1.2")
    if not grid:
        raise SettingError("nothing to tune: expected --grid, such as --grid k1=0.6,0.9,1.2")
    return grid


def _print_tuning(tuning: Tuning) -> None:
    """Print a table of the settings tried, the best first, and what the best are worth."""
    from searchlab.evaluation.dialects import make_dialect
    from searchlab.evaluation.number_text import format_value
    from searchlab.experiments.scorer_tuning import show_settings

    order = sorted(range(len(tuning.points)), key=lambda point: -tuning.mean(point))
    n_shown = len(order) if is_verbose() else MAX_POINTS
    rows = [["settings", tuning.measure, "chosen by"]]
    for point in order[:n_shown]:
        n_folds = sum(point == chosen for chosen in tuning.chosen)
        chosen_by = format_count(n_folds, "fold") if n_folds else ""
        rows.append([show_settings(tuning.points[point]), format_value(tuning.mean(point)), chosen_by])
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for settings, mean, chosen_by in rows:
        print(f"{settings:{widths[0]}}  {mean:>{widths[1]}}  {chosen_by}".rstrip())
    if len(order) > n_shown:
        print(f"and {format_count(len(order) - n_shown, 'worse point')}; -v prints all")
    best, n_folds = tuning.best, len(tuning.folds)
    best_settings = f"{show_settings(tuning.points[best])} (optimistic: chosen by these topics)"
    print(f"\nbest on all topics    {format_value(tuning.mean(best))}  {best_settings}")
    print(f"held-out estimate     {format_value(tuning.held_out)}  each of {n_folds} folds with what the others chose")
    print(f"defaults              {format_value(tuning.compared.mean_b)}  {show_settings(tuning.defaults)}")
    print(f"\n{tuning.verdict()}")
    if tuning.at_edge:
        print(f"At the end of the values tried: {' and '.join(tuning.at_edge)}; better values may lie beyond.")
    rules = make_dialect(tuning.dialect).describe()
    print(f"{rules[0].upper()}{rules[1:]}.")


def _as_record(tuning: Tuning) -> dict[str, Any]:
    return {
        "scorer": tuning.scorer,
        "measure": tuning.measure,
        "dialect": tuning.dialect,
        "n_topics": len(tuning.qids),
        "best": {"settings": dict(tuning.points[tuning.best]), "mean": tuning.mean(tuning.best)},
        "held_out": tuning.held_out,
        "defaults": {"settings": dict(tuning.defaults), "mean": tuning.compared.mean_b},
        "p": tuning.compared.p,
        "significant": tuning.compared.significant,
        "verdict": tuning.verdict(),
        "folds": [
            {"qids": [tuning.qids[number] for number in fold.tolist()], "chosen": dict(tuning.points[point])}
            for fold, point in zip(tuning.folds, tuning.chosen, strict=True)
        ],
        "points": [{"settings": dict(point), "mean": tuning.mean(n)} for n, point in enumerate(tuning.points)],
    }
