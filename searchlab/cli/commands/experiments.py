"""How are experiments run, and scorers tuned, from the command line?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from searchlab.cli.app import IndexOption, app, choose_index, count, note, warn_of_latin1
from searchlab.cli.collection_files import own_topics, read_judgments
from searchlab.cli.progress import stage_bar
from searchlab.cli.search_options import ScorerOption, SetOption, pairs
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.experiments.scorer_tuning import Tuning

# So many points of a grid are printed, the best first.
POINTS_SHOWN = 10


@app.command("experiment")
def experiment_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The plan, a TOML file")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FOLDER", help="Results [default: what the plan says]")
    ] = None,
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", help="Processes [default: one a core]")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything anew.")] = False,
) -> None:
    """Compare systems as a plan says, and write runs, models and a report; what is done already is kept."""
    from searchlab.experiments.experiment import run_experiment
    from searchlab.experiments.plan_file import read_plan

    if jobs is not None and jobs < 1:
        raise SettingError(f"--jobs is {jobs}, expected 1 or more")
    plan = read_plan(file)
    try:
        with stage_bar() as progress:
            finished = run_experiment(plan, output=output, n_jobs=jobs, fresh=fresh, progress=progress)
    except KeyboardInterrupt:
        note(f"what is done is kept in {output or plan.output}; the same command goes on from there")
        raise
    _print_systems(finished.manifest)
    print(f"\n{finished.manifest['lead']}")
    skipped = finished.manifest["n_skipped_topics"]
    if skipped:
        note(f"{count(skipped, 'topic')} without a relevant document left out")
    if finished.was_there:
        note("nothing to do: these results were there already; --fresh computes them anew")
    note(f"→ {finished.folder / 'report.html'}")


def _print_systems(manifest: dict[str, Any]) -> None:
    measures = manifest["plan"]["measures"]
    systems = manifest["systems"]
    width = max(len(system["name"]) for system in systems)
    widths = [max(8, len(measure)) for measure in measures]
    heads = " ".join(f"{measure:>{own}} " for measure, own in zip(measures, widths, strict=True))
    print(f"{'':{width}}  {heads}".rstrip())
    for system in systems:
        cells = []
        for measure, own in zip(measures, widths, strict=True):
            found = system["against_baseline"].get(measure)
            sign = " " if not found or not found["significant"] else "+" if found["difference"] > 0 else "-"
            cells.append(f"{system['means'][measure]:>{own}.4f}{sign}")
        print(f"{system['name']:{width}}  {' '.join(cells)}".rstrip())
    print(
        f"\nMeans over {count(manifest['n_topics'], 'topic')}, {count(len(manifest['folds']), 'fold')}; "
        f"+ better, - worse than {manifest['plan']['baseline']} (randomisation test, p < .05 after Holm's correction)."
    )
    print(f"{manifest['dialect'][0].upper()}{manifest['dialect'][1:]}.")


@app.command("tune")
def tune_command(
    index: IndexOption = None,
    topics: Annotated[
        str | None,
        typer.Option("--topics", metavar="FILE", help="Topics to tune with [default: those of the collection]"),
    ] = None,
    qrels: Annotated[
        str | None,
        typer.Option("--qrels", metavar="FILE", help="Judgments [default: those of the collection, with its topics]"),
    ] = None,
    scorer: ScorerOption = "bm25",
    grid: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="NAME=VALUES", help="Values to try, such as k1=0.6,0.9,1.2; may be repeated"),
    ] = None,
    settings: SetOption = None,
    measure: Annotated[str, typer.Option("--measure", metavar="NAME", help="What is chosen by")] = "nDCG@10",
    dialect: Annotated[str, typer.Option("--dialect", help="Its rules: trec, letor3, letor4 or paper")] = "trec",
    folds: Annotated[int, typer.Option("--folds", help="Folds of the cross-validation")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="For dealing topics into folds, and for the test")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Choose the settings of a scorer, and say what they are worth on topics that did not choose them."""
    import searchlab
    from searchlab.experiments.scorer_tuning import tune

    values = _read_grid(grid or [])
    if seed < 0:
        raise SettingError(f"--seed is {seed}, expected a whole number from 0")
    folder = choose_index(index)
    notes = searchlab.ReadingNotes()
    judgments = read_judgments(folder, qrels, own=topics is None, notes=notes)
    if judgments is None:
        raise SettingError("no judgments to tune by: expected --qrels")
    asked = searchlab.read_topics(topics or own_topics(folder), notes=notes)
    warn_of_latin1(notes)
    with stage_bar() as progress:
        found = tune(
            searchlab.open(folder),
            asked,
            judgments,
            scorer,
            values,
            settings=dict(pairs(settings or (), "--set")),
            measure=measure,
            dialect=dialect,
            n_folds=folds,
            seed=seed,
            progress=progress,
        )
    if found.n_skipped:
        note(f"{count(found.n_skipped, 'topic')} without a relevant document left out")
    print(_as_json(found) if as_json else _as_text(found))


def _read_grid(given: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, text in pairs(given, "--grid", "k1=0.6,0.9,1.2"):
        if name in found:
            raise SettingError(f"--grid {name} is given twice, expected all its values in one list")
        found[name] = list(dict.fromkeys(value.strip() for value in text.split(",") if value.strip()))
        if not found[name]:
            raise SettingError(f"--grid {name}: found no values, expected some, such as k1=0.6,0.9,1.2")
    if not found:
        raise SettingError("nothing to tune: expected --grid, such as --grid k1=0.6,0.9,1.2")
    return found


def _as_text(found: Tuning) -> str:
    from searchlab.evaluation.dialects import make_dialect
    from searchlab.evaluation.number_text import format_value
    from searchlab.experiments.scorer_tuning import show_settings

    order = sorted(range(len(found.points)), key=lambda point: -found.mean(point))
    folds = [sum(point == each for each in found.chosen) for point in range(len(found.points))]
    rows = [["settings", found.measure, "folds"]]
    rows += [
        [show_settings(found.points[point]), format_value(found.mean(point)), str(folds[point] or "")]
        for point in order[:POINTS_SHOWN]
    ]
    width = max(len(row[0]) for row in rows)
    wide = max(len(row[1]) for row in rows)
    lines = [f"{first:{width}}  {second:>{wide}}  {third:>5}".rstrip() for first, second, third in rows]
    left = len(order) - POINTS_SHOWN
    lines += [f"and {count(left, 'worse point')}"] * (left > 0)
    best = found.best
    n_folds = len(found.folds)
    lines += [
        "",
        f"best on all topics    {format_value(found.mean(best))}  {show_settings(found.points[best])} "
        "(flattered: these topics chose it)",
        f"held-out estimate     {format_value(found.held_out)}  each of {n_folds} folds with what the others chose",
        f"defaults              {format_value(found.compared.mean_b)}  {show_settings(found.defaults)}",
        "",
        found.verdict(),
    ]
    if found.at_edge:
        lines.append(f"At the end of what was tried: {' and '.join(found.at_edge)}; better values may lie beyond.")
    rules = make_dialect(found.dialect).describe()
    return "\n".join([*lines, f"{rules[0].upper()}{rules[1:]}."])


def _as_json(found: Tuning) -> str:
    record = {
        "scorer": found.scorer,
        "measure": found.measure,
        "dialect": found.dialect,
        "n_topics": len(found.qids),
        "best": {"settings": dict(found.points[found.best]), "mean": found.mean(found.best)},
        "held_out": found.held_out,
        "defaults": {"settings": dict(found.defaults), "mean": found.compared.mean_b},
        "p": found.compared.p,
        "significant": found.compared.significant,
        "verdict": found.verdict(),
        "folds": [
            {"qids": [found.qids[place] for place in fold.tolist()], "chosen": dict(found.points[point])}
            for fold, point in zip(found.folds, found.chosen, strict=True)
        ],
        "points": [{"settings": dict(point), "mean": found.mean(n)} for n, point in enumerate(found.points)],
    }
    return json.dumps(record, ensure_ascii=False, indent=2)
