"""`searchlab reproduce ohsumed`: the main experiment of RSVM-IR on the judged documents of a collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.commands.reproduction.collection_index import open_collection
from searchlab.cli.commands.reproduction.reproduce_app import reproduce_app, write_json_results, write_report_folder
from searchlab.cli.messages import warn
from searchlab.cli.options import ClusterOption, JobsOption, ReportOption, open_cluster, require_jobs, split_names
from searchlab.cli.output import require_writable_folder
from searchlab.cli.printing.terminal_text import print_line
from searchlab.cli.progress import stage_bar
from searchlab.cli.training_options import RecipeOption
from searchlab.errors import SettingError
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.reproduction.ohsumed_experiment import JudgedDocuments
    from searchlab.types import Progress


@reproduce_app.command("ohsumed")
def ohsumed_command(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="COLLECTION",
            help="A folder with documents, topics and graded qrels, or LETOR 3.0's OHSUMED with its Meta files",
        ),
    ],
    output: ReportOption = None,
    json_file: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON")] = None,
    unjudged: Annotated[
        int,
        typer.Option(
            "--unjudged",
            metavar="N",
            help="Add N documents that are not judged to each topic, drawn from what searches find, as not relevant",
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
            "--query",
            metavar="QID",
            help="The query whose best documents are shown [default: where RSVM-IR gains most]",
        ),
    ] = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """BM25, LMIR and Ranking SVMs on judged documents.

    The experiment on OHSUMED of Cao et al. (2006, §6.3): the features of Table 1, four folds, NDCG@1, 3, 5 and MAP. The
    index is made in FOLDER/indexes, or in indexes/ without -o.
    """
    from searchlab.reproduction.ohsumed_experiment import run_ohsumed
    from searchlab.reproduction.ohsumed_report import format_ohsumed_table, ohsumed_report, verdicts
    from searchlab.reproduction.paper_reports.figures import check_queries

    require_jobs(jobs)
    recipe = searchlab.Recipe("rsvm-ir", measure=measure, dialect="paper", name=recipe_name, seed=seed)
    drawn = None if queries is None else split_names(queries, "--queries", "12,50")
    for option, given in (("--queries", queries), ("--query", query)):
        if given is not None and output is None:
            raise SettingError(f"{option} is for the figures of a report: expected -o FOLDER")
    require_writable_folder(output)
    with open_cluster(cluster) as connected, stage_bar() as progress:
        name, n_docs, documents = _read_documents(folder, output, unjudged, seed, progress)
        if drawn is not None:
            check_queries(documents.table, drawn)
        if query is not None and query not in documents.table.query_ids:
            raise SettingError(f"query {query} has no judged documents, expected one of {documents.table.n_queries}")
        result = run_ohsumed(
            documents, name=name, n_docs=n_docs, recipe=recipe, n_jobs=jobs, cluster=connected, progress=progress
        )
        if output is not None:
            progress("drawing", 0, 1)
            report = ohsumed_report(result, recipe, drawn, query)
    print(format_ohsumed_table(result))
    table = documents.table
    topics, grades = format_count(table.n_queries, "topic"), _describe_grades(documents.grades)
    print(
        f"\n{topics}, {table.n_rows:,} documents ({grades}); "
        f"means over the test sets of {len(result.data.names)} folds, seed {seed}, * the best of a column."
    )
    print(
        f"NDCG by eq. 20; MAP counts grade {result.data.highest_grade} alone (eq. 21). Sign tests of rsvm-ir, the "
        "paper's RSVM-IR-QP, on NDCG@1, two-sided (Table 2). "
        f"C chosen by {recipe.validation_measure().name} within the training folds; {recipe.describe()}."
    )
    if documents.n_without_pairs:
        warn(
            f"in {documents.n_without_pairs:,} of {table.n_queries:,} topics all documents have the same grade, and "
            "all systems are equally good; --unjudged N adds documents that are not relevant"
        )
    for sentence in verdicts(result):
        print_line(sentence)
    if output is not None:
        write_report_folder(report, output)
    if json_file is not None:
        write_json_results(result.to_json(), json_file)


def _read_documents(
    folder: str, output: str | None, unjudged: int, seed: int, progress: Progress
) -> tuple[str, int, JudgedDocuments]:
    """The name of a collection, its number of documents, and the judged ones, by its index or by LETOR's counts."""
    from searchlab.features.letor.meta_files import has_meta_files
    from searchlab.reproduction.judged_collections import find_judged_collections
    from searchlab.reproduction.ohsumed_experiment import gather_judged, read_counted

    if has_meta_files(Path(folder)):
        if unjudged:
            raise SettingError("--unjudged needs the texts of a collection, found counts of LETOR")
        documents, n_docs = read_counted(Path(folder))
        return "OHSUMED", n_docs, documents
    ((name, collection),) = find_judged_collections([folder]).items()
    with open_collection(name, collection, output) as (engine, topics, qrels):
        documents = gather_judged(engine, topics, qrels, n_unjudged=unjudged, seed=seed, progress=progress)
        return name, engine.snapshot.n_docs, documents


def _describe_grades(grades: dict[int, int]) -> str:
    return ", ".join(f"{n:,} of grade {grade}" for grade, n in grades.items())
