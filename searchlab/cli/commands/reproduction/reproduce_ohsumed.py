"""`searchlab reproduce ohsumed`: the main experiment of RSVM-IR on the judged documents of a collection."""

from __future__ import annotations

from typing import Annotated

import typer

import searchlab
from searchlab.cli.commands.reproduction.collection_index import open_collection
from searchlab.cli.commands.reproduction.reproduce_app import reproduce_app, write_json_results, write_report_folder
from searchlab.cli.options import JobsOption, ReportOption, require_jobs, split_names
from searchlab.cli.output import require_writable_folder
from searchlab.cli.printing.terminal_text import pluralize
from searchlab.cli.progress import stage_bar
from searchlab.cli.training_options import RecipeOption
from searchlab.errors import SettingError


@reproduce_app.command("ohsumed")
def ohsumed_command(
    folder: Annotated[
        str, typer.Argument(metavar="COLLECTION", help="A folder with documents, topics and graded qrels")
    ],
    output: ReportOption = None,
    json_file: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON")] = None,
    unjudged: Annotated[
        int,
        typer.Option(
            "--unjudged",
            metavar="N",
            help="Add the N best documents of BM25 and of LMIR that are not judged, as not relevant",
        ),
    ] = 0,
    recipe_name: RecipeOption = "paper",
    measure: Annotated[str, typer.Option("--measure", metavar="NAME", help="The measure to choose C by")] = "nDCG@5",
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed for the folds")] = 0,
    queries: Annotated[
        str | None,
        typer.Option(
            "--queries", metavar="QID,QID", help="Two queries to draw [default: those with the fewest and most pairs]"
        ),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            "--query", metavar="QID", help="The query whose best documents are shown [default: where RSVM-IR gains most]"
        ),
    ] = None,
    jobs: JobsOption = None,
) -> None:
    """BM25, LMIR and Ranking SVMs on judged documents.

    The experiment on OHSUMED of Cao et al. (2006, §6.3): the features of Table 1, four folds, NDCG@1, 3, 5 and MAP. The
    index is made in FOLDER/indexes, or in indexes/ without -o.
    """
    from searchlab.reproduction.figures import check_queries
    from searchlab.reproduction.judged_collections import find_judged_collections
    from searchlab.reproduction.ohsumed import gather_judged, run_ohsumed
    from searchlab.reproduction.ohsumed_report import format_ohsumed_table, ohsumed_report, verdicts

    require_jobs(jobs)
    recipe = searchlab.Recipe("rsvm-ir", measure=measure, dialect="paper", name=recipe_name, seed=seed)
    drawn = None if queries is None else split_names(queries, "--queries", "12,50")
    for option, given in (("--queries", queries), ("--query", query)):
        if given is not None and output is None:
            raise SettingError(f"{option} is for the figures of a report: expected -o FOLDER")
    ((name, collection),) = find_judged_collections([folder]).items()
    require_writable_folder(output)
    with open_collection(name, collection, output) as (engine, topics, qrels), stage_bar() as progress:
        documents = gather_judged(engine, topics, qrels, n_unjudged=unjudged, progress=progress)
        if drawn is not None:
            check_queries(documents.table, drawn)
        if query is not None and query not in documents.table.query_ids:
            raise SettingError(f"query {query} has no judged documents, expected one of {documents.table.n_queries}")
        result = run_ohsumed(
            documents, name=name, n_docs=engine.snapshot.n_docs, recipe=recipe, n_jobs=jobs, progress=progress
        )
        if output is not None:
            progress("drawing", 0, 1)
            report = ohsumed_report(result, recipe, drawn, query)
    print(format_ohsumed_table(result))
    topics_said = pluralize(documents.table.n_queries, "topic")
    print(
        f"\n{topics_said}, {documents.table.n_rows:,} judged documents ({_describe_grades(documents.grades)}); means over "
        f"the test sets of {len(result.data.names)} folds, seed {seed}, * the best of a column."
    )
    print(
        f"NDCG by eq. 20; MAP counts grade {result.data.highest_grade} alone (eq. 21). Sign tests on NDCG@1, two-sided "
        f"(Table 2). C chosen by {recipe.validation_measure().name} within the training folds; recipe {recipe.name}: "
        f"{recipe.describe()}."
    )
    for sentence in verdicts(result):
        print(sentence)
    if output is not None:
        write_report_folder(report, output)
    if json_file is not None:
        write_json_results(result.to_json(), json_file)


def _describe_grades(grades: dict[int, int]) -> str:
    return ", ".join(f"{n:,} of grade {grade}" for grade, n in grades.items())
