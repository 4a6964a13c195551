"""`searchlab reproduce letor`: every ranker on folds of features (RSVM-IR and OrdRank)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.commands.reproduction.reproduce_app import reproduce_app, write_report_folder
from searchlab.cli.messages import note
from searchlab.cli.options import JobsOption, ReportOption, require_jobs, split_names
from searchlab.cli.output import STANDARD_OUTPUT, open_output, require_writable_folder
from searchlab.cli.printing.terminal_text import print_line
from searchlab.cli.progress import stage_bar
from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from searchlab.reproduction.letor import RankerResult


@reproduce_app.command("letor")
def letor_command(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Folds: FOLDER/Fold1/{train,vali,test}.txt, …")],
    rankers: Annotated[
        str | None,
        typer.Option("--rankers", metavar="NAMES", help="Rankers separated by commas, such as rsvm,mhr [default: all]"),
    ] = None,
    output: ReportOption = None,
    json_file: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON")] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            "--queries", metavar="QID,QID", help="Two queries to draw [default: those with the fewest and most pairs]"
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the ranker, if only one is named"),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", metavar="NAME", help="The measure to choose settings by, on the validation set")
    ] = "AP",
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect", metavar="trec|letor3|letor4|paper", help="The evaluation tool whose rules are followed"
        ),
    ] = "letor3",
    impute: Annotated[
        str,
        typer.Option(
            "--impute", metavar="NAME", help="How undefined values are filled: indicator, letor, query-minimum or zero"
        ),
    ] = "query-minimum",
    normalise: Annotated[
        str,
        typer.Option(
            "--normalise",
            metavar="NAME",
            help="How features are scaled: none, query-minmax, query-rank, query-zscore or standard",
        ),
    ] = "query-minmax",
    powers: Annotated[
        bool | None,
        typer.Option(
            "--powers/--no-powers",
            help="Whether the square and the root of each feature are added [default: what suits the ranker]",
        ),
    ] = None,
    jobs: JobsOption = None,
) -> None:
    """Train and test every ranker on LETOR folds.

    Settings are chosen on the validation sets (Cao et al. 2006; OrdRank).
    """
    from searchlab.reproduction.letor import DEFAULT_RANKERS, read_data, reproduce

    names = list(DEFAULT_RANKERS) if rankers is None else split_names(rankers, "--rankers", "rsvm,rsvm-ir")
    ranker_settings = dict(pairs(settings or (), "--set", "C=0.01"))
    if ranker_settings and len(names) != 1:
        raise SettingError(f"--set is for one ranker, found {len(names)}: expected --rankers with one name")
    require_jobs(jobs)
    recipe = searchlab.Recipe(
        names[0] if names else "",
        ranker_settings,
        imputation=impute,
        normalisation=normalise,
        powers=powers,
        measure=measure,
        dialect=dialect,
    )
    drawn_queries = None if queries is None else split_names(queries, "--queries", "12,50")
    if drawn_queries is not None and output is None:
        raise SettingError("--queries is for the figures of a report: expected -o FOLDER")
    require_writable_folder(output)
    data = read_data(folder)
    if drawn_queries is not None:
        from searchlab.reproduction.figures import check_queries

        check_queries(data.whole, drawn_queries)
    with stage_bar() as progress:
        results = reproduce(data, names, recipe=recipe, n_jobs=jobs, progress=progress)
        _print_rankers(results, recipe.validation_measure().name, dialect)
        if output is not None:
            from searchlab.reproduction.letor_report import letor_report

            progress("drawing", 0, 1)
            report = letor_report(results, data, recipe, drawn_queries, name=Path(folder).resolve().name)
    if output is not None:
        print()
        print_line(report.summary)
        write_report_folder(report, output)
    if json_file is not None:
        record = {
            "measure": recipe.validation_measure().name,
            "dialect": dialect,
            "rankers": {name: result.to_json() for name, result in results.items()},
        }
        with open_output(json_file) as file:
            file.write(json.dumps(record, ensure_ascii=False, indent=2) + "\n")
        if json_file != STANDARD_OUTPUT:
            note(f"results → {json_file}")


def _print_rankers(results: Mapping[str, RankerResult], measure: str, dialect: str) -> None:
    """Print the test measures of the rankers, with training times and certified gaps."""
    from searchlab.evaluation.dialects import make_dialect
    from searchlab.reproduction.letor import MEASURES

    width = max(map(len, results))
    best = {name: max(result.mean(name) for result in results.values()) for name in MEASURES}
    print(f"{'':{width}}  " + " ".join(f"{name:>8}" for name in MEASURES) + "    seconds      pairs      gap")
    for name, result in results.items():
        means = {each: result.mean(each) for each in MEASURES}
        cells = [f"{mean:.4f}".lstrip("0") + ("*" if mean == best[each] else " ") for each, mean in means.items()]
        n_pairs = "–" if result.n_pairs is None else f"{result.n_pairs:,.0f}"
        gap = "–" if result.gap is None else f"{result.gap:.0e}"
        line = " ".join(f"{cell:>8}" for cell in cells)
        print(f"{name:{width}}  {line} {result.train_seconds:>10.2f} {n_pairs:>10} {gap:>8}")
    folds = format_count(len(next(iter(results.values())).folds), "fold")
    chosen = f"settings chosen by {measure} on validation sets"
    print(f"\nMeans over the test sets of {folds}, * the best of a column; {chosen}.")
    print("Seconds: one fit with the chosen setting. Gap: the relative duality gap; – for rankers without one.")
    rules = make_dialect(dialect).describe()
    print(f"{rules[0].upper()}{rules[1:]}.")
