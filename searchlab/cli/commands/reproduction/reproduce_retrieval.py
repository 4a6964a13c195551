"""`searchlab reproduce retrieval`: searches, language models and re-rankers on collections with judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.commands.reproduction.reproduce_app import reproduce_app, write_report_folder
from searchlab.cli.messages import warn, warn_of_latin1
from searchlab.cli.options import ReportOption, split_names
from searchlab.cli.output import require_writable_folder
from searchlab.cli.printing.terminal_text import print_line
from searchlab.cli.progress import reading_bar, stage_bar

if TYPE_CHECKING:
    from searchlab.corpus import Collection
    from searchlab.reproduction.retrieval import RetrievalResult


@reproduce_app.command("retrieval")
def retrieval_command(
    collections: Annotated[
        list[str], typer.Argument(metavar="COLLECTION", help="Folders with documents, topics and qrels")
    ],
    output: ReportOption = None,
    features: Annotated[
        str, typer.Option("--features", metavar="NAMES", help="Feature sets to re-rank with, separated by commas")
    ] = "table1,letor45,semantic",
    rankers: Annotated[
        str, typer.Option("--rankers", metavar="NAMES", help="Rankers, separated by commas")
    ] = "rsvm,rsvm-ir",
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation over topics")] = 5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed for the folds and the tests")] = 0,
) -> None:
    """Compare language models, RM3 and re-rankers with BM25.

    On collections with judgments. Indexes are made in FOLDER/indexes, or in indexes/ without -o.
    """
    from searchlab.features.feature_sets import make_feature_set
    from searchlab.reproduction.judged_collections import find_judged_collections
    from searchlab.reproduction.retrieval import make_recipes
    from searchlab.reproduction.retrieval_report import compare_with_paper, format_retrieval_table, retrieval_report

    feature_sets = split_names(features, "--features", "table1,semantic")
    ranker_names = split_names(rankers, "--rankers", "rsvm,rsvm-ir")
    # Misspelt names are refused before any work is done.
    _ = [make_feature_set(name) for name in feature_sets], make_recipes(ranker_names, folds, seed)
    require_writable_folder(output)
    outcomes: list[RetrievalResult] = []
    for name, collection in find_judged_collections(collections).items():
        outcomes.append(_run_collection(name, collection, output, feature_sets, ranker_names, folds, seed))
        print(format_retrieval_table(outcomes[-1]) + "\n")
        for sentence in outcomes[-1].sentences():
            print_line(f"{sentence}.")
        for reason in outcomes[-1].left_out:
            warn(f"left out: {reason}")
        print()
    print(
        f"Re-rankers and the mixture: held-out topics of {folds} folds, seed {seed}. "
        "↑ ↓: significantly better or worse than BM25 (randomisation test, Holm, p < .05)."
    )
    print(compare_with_paper(outcomes))
    if output is not None:
        write_report_folder(retrieval_report(outcomes, seed), output)


def _run_collection(
    name: str, collection: Collection, output: str | None, sets: list[str], rankers: list[str], folds: int, seed: int
) -> RetrievalResult:
    from searchlab.indexing.index_names import default_folder
    from searchlab.reproduction.judged_collections import refuse_index_of_other_source
    from searchlab.reproduction.retrieval import run_retrieval

    source = str(collection.folder)
    folder = default_folder([source]) if output is None else Path(output) / "indexes" / name
    refuse_index_of_other_source(folder, source)
    notes = searchlab.ReadingNotes()
    with reading_bar(notes) as reading:
        searchlab.index([source], folder, notes=notes, progress=reading)
    topics = searchlab.read_topics(collection.topics[0], notes=notes)
    qrels = searchlab.read_qrels(collection.qrels[0], notes=notes)
    warn_of_latin1(notes)
    with searchlab.open(folder) as engine, stage_bar() as progress:
        return run_retrieval(
            engine,
            topics,
            qrels,
            name=name,
            features=sets,
            rankers=rankers,
            n_folds=folds,
            seed=seed,
            progress=lambda stage, done, total: progress(f"{name}: {stage}", done, total),
        )
