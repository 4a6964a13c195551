"""`searchlab reproduce retrieval`: searches, language models and re-rankers on collections with judgments."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.commands.reproduction.collection_index import open_collection
from searchlab.cli.commands.reproduction.reproduce_app import reproduce_app, write_json_results, write_report_folder
from searchlab.cli.messages import warn
from searchlab.cli.options import ClusterOption, DivideOption, ReportOption, open_cluster, split_names
from searchlab.cli.output import require_writable_folder
from searchlab.cli.printing.terminal_text import print_line
from searchlab.cli.progress import stage_bar
from searchlab.cli.training_options import RecipeOption
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from searchlab.cluster.cluster import Cluster
    from searchlab.corpus import Collection
    from searchlab.reproduction.retrieval import RetrievalResult
    from searchlab.training.recipe import Recipe
    from searchlab.types import Progress


@reproduce_app.command("retrieval")
def retrieval_command(
    collections: Annotated[
        list[str], typer.Argument(metavar="COLLECTION", help="Folders with documents, topics and qrels")
    ],
    output: ReportOption = None,
    cross: Annotated[
        bool, typer.Option("--cross", help="Train on each collection and test on all of them (at least two)")
    ] = False,
    features: Annotated[
        str | None,
        typer.Option(
            "--features",
            metavar="NAMES",
            help="Feature sets to re-rank with, separated by commas "
            "[default: table1,letor45,semantic; with --cross nallapati]",
        ),
    ] = None,
    rankers: Annotated[
        str | None,
        typer.Option(
            "--rankers",
            metavar="NAMES",
            help="Rankers, separated by commas [default: rsvm,rsvm-ir; with --cross svm,maxent,rsvm]",
        ),
    ] = None,
    recipe: RecipeOption = "paper",
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation over topics")] = 5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed for the folds and the tests")] = 0,
    json_file: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON")] = None,
    cluster: ClusterOption = None,
    divide: DivideOption = "auto",
) -> None:
    """Compare language models, RM3 and re-rankers with BM25.

    On collections with judgments. Indexes are made in FOLDER/indexes, or in indexes/ without -o.
    """
    from searchlab.features.feature_sets import make_feature_set
    from searchlab.reproduction import retrieval
    from searchlab.reproduction.cross_collection import collection, learners
    from searchlab.reproduction.judged_collections import find_judged_collections
    from searchlab.retrieval.distributed.shard_division import require_division

    require_division(divide)
    usual_sets = [collection.FEATURES] if cross else list(retrieval.FEATURES)
    usual_rankers = learners.CROSS_RANKERS if cross else retrieval.RERANKERS
    feature_sets = usual_sets if features is None else split_names(features, "--features", "table1,semantic")
    ranker_names = list(usual_rankers) if rankers is None else split_names(rankers, "--rankers", "rsvm,rsvm-ir")
    if cross and len(feature_sets) != 1:
        raise SettingError(f"--features is {features!r}, expected one feature set with --cross")
    # Misspelt names are refused before any work is done.
    _ = [make_feature_set(name) for name in feature_sets]
    measure = collection.MEASURE if cross else retrieval.MEASURES[0]
    recipes = retrieval.make_reranker_recipes(ranker_names, folds, seed, recipe, measure)
    found = find_judged_collections(collections)
    if cross and len(found) < 2:
        raise SettingError(f"{len(found)} collection with --cross, expected at least two to train and to test on")
    require_writable_folder(output)
    with open_cluster(cluster) as connected:
        if cross:
            _cross(found, output, feature_sets[0], recipes, folds, seed, json_file, connected, divide)
        else:
            _compare(found, output, feature_sets, ranker_names, recipe, folds, seed, json_file, connected, divide)


def _compare(
    collections: Mapping[str, Collection],
    output: str | None,
    sets: list[str],
    rankers: list[str],
    recipe: str,
    folds: int,
    seed: int,
    json_file: str | None,
    cluster: Cluster | None,
    divide: str,
) -> None:
    """All systems on each collection."""
    from searchlab.reproduction.retrieval import run_retrieval
    from searchlab.reproduction.retrieval_report import compare_with_paper, format_retrieval_table, retrieval_report

    outcomes: list[RetrievalResult] = []
    for name, collection in collections.items():
        with open_collection(name, collection, output) as (engine, topics, qrels), stage_bar() as show:

            def progress(stage: str, done: int, total: int, name: str = name, show: Progress = show) -> None:
                show(f"{name}: {stage}", done, total)

            outcome = run_retrieval(
                engine,
                topics,
                qrels,
                name=name,
                features=sets,
                rankers=rankers,
                recipe_name=recipe,
                n_folds=folds,
                seed=seed,
                cluster=cluster,
                divide=divide,
                progress=progress,
            )
        outcomes.append(outcome)
        print(format_retrieval_table(outcome) + "\n")
        for sentence in outcome.sentences():
            print_line(f"{sentence}.")
        for reason in outcome.left_out:
            warn(f"left out: {reason}")
        print()
    print(
        f"Re-rankers (recipe {recipe}) and the mixture: held-out topics of {folds} folds, seed {seed}. "
        "↑ ↓: significantly better or worse than BM25 (randomisation test, Holm, p < .05)."
    )
    print_line(compare_with_paper(outcomes))
    if output is not None:
        write_report_folder(retrieval_report(outcomes, seed), output)
    if json_file is not None:
        record = {"recipe": recipe, "seed": seed, "collections": {each.name: each.to_json() for each in outcomes}}
        write_json_results(record, json_file)


def _cross(
    collections: Mapping[str, Collection],
    output: str | None,
    features: str,
    recipes: list[Recipe],
    folds: int,
    seed: int,
    json_file: str | None,
    cluster: Cluster | None,
    divide: str,
) -> None:
    """Every system trained on each collection and tested on all of them."""
    from searchlab.reproduction.cross_collection.collection import prepare_collection
    from searchlab.reproduction.cross_collection.cross_collection_report import NOTE, cross_report, format_cross_table
    from searchlab.reproduction.cross_collection.cross_training import run_cross
    from searchlab.reproduction.cross_collection.learners import make_learners

    with ExitStack() as stack:
        opened = [
            (name, *stack.enter_context(open_collection(name, collection, output)))
            for name, collection in collections.items()
        ]
        with stage_bar() as progress:
            prepared = [
                prepare_collection(name, engine, topics, qrels, features, progress, cluster, divide)
                for name, engine, topics, qrels in opened
            ]
            learners = make_learners(recipes, seed)
            result = run_cross(prepared, learners, n_folds=folds, seed=seed, cluster=cluster, progress=progress)
    print(format_cross_table(result))
    print(f"\n{NOTE} Rankers have the features {features}; {folds} folds, seed {seed}.")
    print_line(result.verdict())
    for reason in result.left_out:
        warn(f"left out: {reason}")
    if output is not None:
        write_report_folder(cross_report(result, features, seed), output)
    if json_file is not None:
        write_json_results({"features": features, "seed": seed, **result.to_json()}, json_file)
