"""`searchlab train`: train a re-ranker, and say whether it helps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.collection_files import read_judged_topics
from searchlab.cli.external_options import ExternalOption, read_external, warn_of_missing_scores
from searchlab.cli.messages import note, warn_of_encodings
from searchlab.cli.options import (
    ClusterOption,
    DivideOption,
    IndexOption,
    QrelsOption,
    ScorerSettingsOption,
    TopicIdsOption,
    TopicsOption,
    choose_index,
    given_options,
    open_cluster,
)
from searchlab.cli.output import STANDARD_OUTPUT, require_writable_file
from searchlab.cli.printing.model_printing import print_retraining, print_training, print_trial
from searchlab.cli.printing.terminal_text import print_line
from searchlab.cli.progress import stage_bar
from searchlab.cli.rerank_options import source_of
from searchlab.cli.search_options import pairs
from searchlab.cli.training_options import (
    BestOption,
    ImputeOption,
    MeasureOption,
    NormaliseOption,
    PowersOption,
    PriorOption,
    RankerSettingsOption,
    RecipeOption,
    RepeatsOption,
    TrainingDialectOption,
    make_training_recipe,
)
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.features.feature_sets import FeatureSet
    from searchlab.rankers.bundle import Bundle
    from searchlab.training.recipe import Recipe

# Parameters that go only with training from an index, and those that go only with a feature file.
INDEX_PARAMETERS = (
    "index",
    "topics",
    "topic_ids",
    "qrels",
    "features",
    "external",
    "k",
    "no_rm3",
    "divide",
    "scorer",
    "scorer_settings",
)
FILE_PARAMETERS = ("valid",)


@app.command("train")
def train_command(
    context: typer.Context,
    train: Annotated[
        str | None,
        typer.Argument(metavar="TRAIN", help="A LETOR file with grades [default: computed from an index]"),
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the model here, as JSON")
    ] = None,
    ranker: Annotated[
        str | None,
        typer.Option(
            "--ranker",
            metavar="NAME",
            help="The learner; --list lists all [default: softmax; from a LETOR file rsvm-ir]",
        ),
    ] = None,
    settings: RankerSettingsOption = None,
    valid: Annotated[
        str | None,
        typer.Option(
            "--valid", metavar="FILE", help="A LETOR file to choose settings by [default: parts of TRAIN in turn]"
        ),
    ] = None,
    index: IndexOption = None,
    topics: TopicsOption = None,
    topic_ids: TopicIdsOption = "written",
    qrels: QrelsOption = None,
    features: Annotated[
        str, typer.Option("--features", metavar="NAMES", help="The features, as for `searchlab features`")
    ] = "compact",
    external: ExternalOption = None,
    k: Annotated[
        int, typer.Option("-k", metavar="N", help="Candidates: the N best of the first search, and of RM3")
    ] = 200,
    no_rm3: Annotated[bool, typer.Option("--no-rm3", help="Candidates: only those of the first search.")] = False,
    scorer: Annotated[
        str, typer.Option("--scorer", metavar="NAME", help="Candidates: the scorer of the first search")
    ] = "bm25",
    scorer_settings: ScorerSettingsOption = None,
    recipe_name: RecipeOption = "tuned",
    measure: MeasureOption = None,
    dialect: TrainingDialectOption = None,
    impute: ImputeOption = None,
    normalise: NormaliseOption = None,
    powers: PowersOption = None,
    n_best: BestOption = None,
    prior: PriorOption = None,
    folds: Annotated[
        int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation; 0 leaves it out")
    ] = 5,
    repeats: RepeatsOption = None,
    parts: Annotated[
        int, typer.Option("--parts", metavar="N", help="Parts of the queries, held out in turn to choose settings by")
    ] = 4,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed for folds and parts")] = 0,
    listing: Annotated[bool, typer.Option("--list", help="List all rankers with their settings, and exit.")] = False,
    cluster: ClusterOption = None,
    divide: DivideOption = "auto",
    if_better: Annotated[
        bool,
        typer.Option(
            "--if-better", help="If FILE holds a model, replace it only if the new one is better on the same topics."
        ),
    ] = False,
) -> None:
    """Train a re-ranker, and say whether it helps.

    From an index with judged topics, or from a LETOR file with grades (TRAIN). If FILE holds a model of an index, the
    new model is compared with it.
    """
    if listing:
        _list_rankers()
        return
    if output is None:
        raise SettingError("nowhere to write the model: expected -o FILE")
    _refuse_foreign_options(context, from_file=train is not None)
    if output == STANDARD_OUTPUT:
        raise SettingError("standard output shows the training, expected -o with a file for the model")
    require_writable_file(output)
    from searchlab.features.feature_sets import make_feature_set
    from searchlab.rankers.model_store.model_history import read_former
    from searchlab.retrieval.distributed.shard_division import require_division
    from searchlab.training.from_table import require_storable
    from searchlab.training.recipe import SEARCH_DEFAULTS

    require_division(divide)
    recipe = make_training_recipe(
        settings,
        SEARCH_DEFAULTS if train is None else {},
        ranker=ranker,
        name=recipe_name,
        imputation=impute,
        normalisation=normalise,
        powers=powers,
        n_best=n_best,
        prior=prior,
        n_repeats=repeats,
        measure=measure,
        dialect=dialect,
        n_parts=parts,
        n_folds=folds,
        seed=seed,
    )
    require_storable(recipe)
    if if_better and train is not None:
        raise SettingError("--if-better is for training from an index, expected no TRAIN")
    if train is not None:
        bundle = _train_from_file(recipe, train, valid, cluster)
    else:
        first_stage = {"k": k, "scorer": scorer, "settings": dict(pairs(scorer_settings or (), "--scorer-set"))}
        feature_set = make_feature_set([*make_feature_set(features).features, *read_external(external)])
        bundle = _train_from_index(
            recipe,
            index,
            topics,
            topic_ids,
            qrels,
            feature_set,
            first_stage | {"expanded": not no_rm3},
            cluster,
            divide,
            read_former(Path(output)),
        )
        warn_of_missing_scores(bundle.training.get("missing_scores", {}), bundle.training["n_rows"])
    compared = bundle.training.get("former")
    if compared is None or not if_better:
        # The same data and settings give the same file, whatever it replaces.
        training = {name: value for name, value in bundle.training.items() if name != "former"}
        replace(bundle, training=training).save(output)
    elif compared["is_better"]:
        bundle.save(output)
    _print_result(bundle, output, if_better)


def _list_rankers() -> None:
    from searchlab.rankers.ranker_registry import RANKERS, default_settings

    width = max(map(len, RANKERS))
    for name, kind in RANKERS.items():
        ranker = searchlab.make_ranker(name)
        settings = {
            key: "chosen" if key == ranker.tuned else json.dumps(value, default=str)
            for key, value in default_settings(name).items()
        }
        print(f"{name:{width}}  {kind.description}")
        print(f"{'':{width}}    {', '.join(f'{key}={value}' for key, value in settings.items())}")
        print(f"{'':{width}}    {_describe_recipes(name)}")
    print("\nSettings shown as `chosen` are chosen on held-out queries, unless --set gives them.")
    print("From an index, recipe tuned adds no powers; with --measure nDCG@k, it derives τ from NDCG@k.")


def _describe_recipes(ranker: str) -> str:
    paper, tuned = (searchlab.Recipe(ranker, name=name) for name in ("paper", "tuned"))
    if paper.is_shared:
        return f"both recipes: {paper.rules.describe()}"
    return f"tuned: {tuned.rules.describe()}; paper: {paper.rules.describe()}"


def _refuse_foreign_options(context: typer.Context, *, from_file: bool) -> None:
    """Refuse options that do not go with what is trained from."""
    for name, option in given_options(context).items():
        if from_file and name in INDEX_PARAMETERS:
            raise SettingError(f"{option} is for training from an index, expected no TRAIN")
        if not from_file and name in FILE_PARAMETERS:
            raise SettingError(f"{option} goes with TRAIN, expected a LETOR file")


def _train_from_file(recipe: Recipe, train: str, valid: str | None, cluster: str | None) -> Bundle:
    notes = searchlab.ReadingNotes()
    table = searchlab.read_letor(train, notes=notes)
    validation = None if valid is None else searchlab.read_letor(valid, notes=notes)
    warn_of_encodings(notes)
    with open_cluster(cluster) as connected, stage_bar() as progress:
        source = train if valid is None else f"{train}, chosen by {valid}"
        return searchlab.train_from_table(
            table, validation, recipe=recipe, source=source, cluster=connected, progress=progress
        )


def _train_from_index(
    recipe: Recipe,
    index: str | None,
    topics: str | None,
    topic_ids: str,
    qrels: str | None,
    feature_set: FeatureSet,
    candidates: dict[str, Any],
    cluster: str | None,
    divide: str,
    former: Bundle | None,
) -> Bundle:
    from searchlab.rankers.first_stage import FirstStage

    first_stage = FirstStage(**candidates)
    folder = choose_index(index)
    training_topics, judgments = read_judged_topics(folder, topics, qrels, "learn from", topic_ids=topic_ids)
    with searchlab.open(folder) as engine, open_cluster(cluster) as connected, stage_bar() as progress:
        return searchlab.train_from_index(
            engine,
            training_topics,
            judgments,
            feature_set,
            recipe=recipe,
            first_stage=first_stage,
            source=source_of(topics, qrels),
            cluster=connected,
            divide=divide,
            former=former,
            progress=progress,
        )


def _print_result(bundle: Bundle, output: str, if_better: bool) -> None:
    print_training(bundle)
    print()
    print_trial(bundle)
    compared = bundle.training.get("former")
    if compared is not None:
        print()
        print_retraining(compared, "sentence" if if_better else "finding")
    print()
    if compared is not None and not compared["is_better"]:
        if if_better:
            print_line(f"{output} is as it was")
            return
        note(f"`--if-better` would have kept the former model in {output}")
    print_line(f"model written to {output}")
    use = f"query QUERY --rerank {output}" if bundle.first_stage is not None else f"rerank {output} FEATURES"
    note(f"`searchlab {use}` uses it, `searchlab model show {output}` prints its weights")
