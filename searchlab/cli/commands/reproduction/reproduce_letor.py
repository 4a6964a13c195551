"""`searchlab reproduce letor`: every ranker on folds of features (RSVM-IR and OrdRank)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from searchlab.cli.commands.reproduction.reproduce_app import reproduce_app, write_json_results, write_report_folder
from searchlab.cli.options import ClusterOption, JobsOption, ReportOption, open_cluster, require_jobs, split_names
from searchlab.cli.output import require_writable_folder
from searchlab.cli.printing.letor_printing import print_rankers
from searchlab.cli.printing.terminal_text import print_line
from searchlab.cli.progress import stage_bar
from searchlab.cli.training_options import (
    BestOption,
    ImputeOption,
    MeasureOption,
    NormaliseOption,
    PowersOption,
    RankerSettingsOption,
    RecipesOption,
    TrainingDialectOption,
    make_training_recipe,
)
from searchlab.errors import SettingError


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
            "--queries",
            metavar="QID,QID",
            help="Two queries to draw [default: 12,50 for the papers' data, else those with the fewest and most pairs]",
        ),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            "--query",
            metavar="QID",
            help="The query whose top five and whose hyperplanes are shown "
            "[default: 9 and 43 for the papers' data, else the second of --queries]",
        ),
    ] = None,
    settings: RankerSettingsOption = None,
    recipe_name: RecipesOption = None,
    measure: MeasureOption = None,
    dialect: TrainingDialectOption = None,
    impute: ImputeOption = None,
    normalise: NormaliseOption = None,
    powers: PowersOption = None,
    n_best: BestOption = None,
    relevant_from: Annotated[
        int | None,
        typer.Option(
            "--relevant-from",
            metavar="GRADE",
            help="From which grade a document is relevant in MAP and P@n "
            "[default: 1; in the MAP of Cao et al. the highest grade alone]",
        ),
    ] = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Train and test every ranker on LETOR folds.

    By two recipes, the paper's and ours; settings are chosen on the validation sets (Cao et al. 2006; OrdRank).
    """
    from searchlab.reproduction.letor import DEFAULT_RANKERS, make_recipes, read_data, reproduce
    from searchlab.reproduction.retrieval_models import evaluate_retrieval_models
    from searchlab.training.recipe import PAPER, RECIPES

    names = list(DEFAULT_RANKERS) if rankers is None else split_names(rankers, "--rankers", "rsvm,rsvm-ir")
    if settings and len(names) != 1:
        raise SettingError(f"--set is for one ranker, found {len(names)}: expected --rankers with one name")
    require_jobs(jobs)
    recipe = make_training_recipe(
        settings,
        {},
        ranker=names[0],
        name=recipe_name,
        imputation=impute,
        normalisation=normalise,
        powers=powers,
        n_best=n_best,
        measure=measure,
        dialect=dialect,
    )
    recipe_names = tuple(RECIPES) if recipe_name is None else (recipe_name,)
    _ = make_recipes(recipe, names, recipe_names, relevant_from)
    drawn_queries = None if queries is None else split_names(queries, "--queries", "12,50")
    for option, given in (("--queries", queries), ("--query", query)):
        if given is not None and output is None:
            raise SettingError(f"{option} is for the figures of a report: expected -o FOLDER")
    require_writable_folder(output)
    data = read_data(folder)
    if output is not None:
        from searchlab.reproduction.paper_reports.paper_sections import choose_shown_queries

        shown = choose_shown_queries(data.whole, drawn_queries, query)
    with open_cluster(cluster) as connected, stage_bar() as progress:
        results = reproduce(
            data,
            names,
            recipe=recipe,
            recipe_names=recipe_names,
            relevant_from=relevant_from,
            n_jobs=jobs,
            cluster=connected,
            progress=progress,
        )
        retrieval = evaluate_retrieval_models(data, recipe, relevant_from)
        print_rankers(results, data.chosen_on, retrieval)
        if output is not None:
            from searchlab.reproduction.letor_report import letor_report
            from searchlab.reproduction.paper_reports.query_dependent_report import (
                choose_compared_systems,
                compare_query_dependent,
            )

            systems = choose_compared_systems(names) if PAPER in recipe_names and not settings else []
            timed = compare_query_dependent(data, replace(recipe, name=PAPER), systems, progress)
            progress("drawing", 0, 1)
            title = Path(folder).resolve().name
            report = letor_report(
                results,
                data,
                recipe,
                shown,
                name=title,
                relevant_from=relevant_from,
                retrieval=retrieval,
                query_dependent=timed,
            )
    if output is not None:
        print()
        print_line(report.summary)
        write_report_folder(report, output)
    if json_file is not None:
        record = {
            "measure": next(iter(results.values())).recipe.validation_measure().name,
            "dialect": recipe.dialect,
            "recipes": list(recipe_names),
            "rankers": {label: result.to_json() for label, result in results.items()},
            "retrieval_models": {name: result.to_json() for name, result in retrieval.results.items()},
        }
        write_json_results(record, json_file)
