"""`searchlab features`: features of candidate documents, as a LETOR file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.collection_files import read_topics_and_qrels
from searchlab.cli.external_options import ExternalOption, read_external, warn_of_missing_scores
from searchlab.cli.messages import list_names, note, warn
from searchlab.cli.options import (
    ClusterOption,
    DivideOption,
    IndexOption,
    OutputOption,
    QrelsOption,
    ScorerSettingsOption,
    TopicIdsOption,
    TopicsOption,
    choose_index,
    open_cluster,
)
from searchlab.cli.output import destination, open_output
from searchlab.cli.progress import stage_bar
from searchlab.cli.search_options import ExpandOption, SearchOptions
from searchlab.errors import SettingError
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.corpus import Qrels
    from searchlab.features.candidates import Candidates
    from searchlab.features.feature_sets import FeatureSet
    from searchlab.features.feature_table import FeatureTable
    from searchlab.records import Topic
    from searchlab.retrieval.engine import SearchEngine


@app.command("features")
def features_command(
    topics: TopicsOption = None,
    topic_ids: TopicIdsOption = "written",
    output: OutputOption = "-",
    index: IndexOption = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features",
            metavar="NAMES",
            help="A feature set: compact, full, letor45, nallapati, ordrank, ordrank-letor, semantic, table1, topics, "
            "or a .toml file; or several sets and features, such as letor45,field.year [default: letor45]",
        ),
    ] = None,
    external: ExternalOption = None,
    qrels: QrelsOption = None,
    run: Annotated[str | None, typer.Option("--run", metavar="FILE", help="Candidates: the documents of a run")] = None,
    k: Annotated[
        int | None, typer.Option("-k", metavar="N", help="Candidates: the N best of a first search, or of the run")
    ] = None,
    scorer: Annotated[
        str, typer.Option("--scorer", metavar="NAME", help="The scorer of the first search, such as dirichlet")
    ] = "bm25",
    settings: ScorerSettingsOption = None,
    expand: ExpandOption = None,
    union: Annotated[
        bool, typer.Option("--union", help="Add the judged documents to the candidates of the run or search.")
    ] = False,
    unjudged: Annotated[
        str, typer.Option("--unjudged", metavar="zero|drop", help="Give unjudged candidates grade 0, or drop them")
    ] = "zero",
    impute: Annotated[
        str | None,
        typer.Option(
            "--impute",
            metavar="NAME",
            help="How undefined values are filled: indicator, letor, query-minimum or zero [default: they stay nan]",
        ),
    ] = None,
    normalise: Annotated[
        str | None,
        typer.Option(
            "--normalise",
            metavar="NAME",
            help="How features are scaled: none, query-minmax, query-rank, query-zscore or standard [default: none]",
        ),
    ] = None,
    null: Annotated[
        bool, typer.Option("--null", help="Write undefined values as NULL, as LETOR's files have them, not as nan.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at a document that the index does not hold.")] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="List all features, or those of the feature set, and exit.")
    ] = False,
    cluster: ClusterOption = None,
    divide: DivideOption = "auto",
) -> None:
    """Compute features of documents, and write a LETOR file.

    Candidates are the judged documents, those of a run (--run), or the best of a first search (-k).
    """
    from searchlab.features.candidates import searched
    from searchlab.features.feature_sets import make_feature_set
    from searchlab.features.prerequisites import build_prerequisites
    from searchlab.features.user_defined.external_features import count_missing_scores
    from searchlab.retrieval.distributed.distributed_engine import divide_shards_of
    from searchlab.retrieval.distributed.shard_division import TOPICS, require_division

    if listing:
        _list_features(None if features is None else make_feature_set(features), index)
        return
    require_division(divide)
    feature_set = make_feature_set([*make_feature_set(features or "letor45").features, *read_external(external)])
    steps = _preprocessing_steps(impute, normalise)
    options = SearchOptions.read(scorer, settings, expand=expand)
    folder = choose_index(index)
    wanted, judgments = read_topics_and_qrels(folder, topics, qrels, topic_ids)
    with searchlab.open(folder) as engine, open_cluster(cluster) as connected, stage_bar() as progress:
        for remark in build_prerequisites(engine, feature_set, progress, connected):
            warn(remark)
        with divide_shards_of(engine, connected, divide) as divided:
            on_workers = None if divided.is_distributed else connected

            def search(k: int) -> Candidates:
                return searched(options.pipeline(divided), wanted, k=k, cluster=on_workers, progress=progress)

            candidates = _choose_candidates(divided, wanted, judgments, run, k, search, union=union)
            table = searchlab.extract(
                divided,
                wanted,
                candidates,
                feature_set,
                qrels=judgments,
                unjudged=unjudged,
                strict=strict,
                cluster=on_workers,
                divide=TOPICS,
                progress=progress,
            )
    missing = count_missing_scores(table)
    for step in steps:
        table = step.fit(table).transform(table)
    with open_output(output) as file:
        searchlab.write_letor(file, table, null=null)
    _print_notes(table, candidates, wanted, missing, output)


def _list_features(feature_set: FeatureSet | None, index: str | None) -> None:
    """Print name, stream, source and formula of each feature; of all, also those of an index that is given."""
    from searchlab.features.catalogue import CATALOGUE
    from searchlab.features.user_defined.field_features import list_field_features

    features = list(CATALOGUE.values()) if feature_set is None else list(feature_set.features)
    if feature_set is None and index is not None:
        with searchlab.open(choose_index(index)) as engine:
            features += list_field_features(engine.snapshot)
    width = max(len(feature.name) for feature in features)
    sources = max(len(feature.source) for feature in features)
    for feature in features:
        print(f"{feature.name:{width}}  {feature.stream:5}  {feature.source:{sources}}  {feature.formula}")


def _preprocessing_steps(impute: str | None, normalise: str | None) -> list[Any]:
    from searchlab.features.preprocessing.imputation import make_imputation
    from searchlab.features.preprocessing.normalisation import make_normalisation

    steps: list[Any] = [] if impute is None else [make_imputation(impute)]
    return steps if normalise is None else [*steps, make_normalisation(normalise)]


def _choose_candidates(
    engine: SearchEngine,
    topics: list[Topic],
    qrels: Qrels | None,
    run: str | None,
    k: int | None,
    search: Callable[[int], Candidates],
    *,
    union: bool,
) -> Candidates:
    from searchlab.features import candidates as choose

    if run is None and k is None:
        if qrels is None:
            raise SettingError("no candidates: expected --qrels, --run or -k")
        return choose.judged(engine, {topic.qid: qrels.get(topic.qid, {}) for topic in topics})
    found = search(k or 100) if run is None else choose.ranked(engine, searchlab.read_run(run), k=k)
    if union and qrels is None:
        raise SettingError("--union adds the judged documents: expected --qrels")
    return found.union(choose.judged(engine, qrels)) if union and qrels is not None else found


def _print_notes(
    table: FeatureTable, candidates: Candidates, topics: list[Topic], missing_scores: Mapping[str, int], output: str
) -> None:
    """Say what was written, and what was left out."""
    warn_of_missing_scores(missing_scores, table.n_rows)
    if missing := candidates.describe_missing():
        warn(missing)
    if empty := candidates.without_any(topics):
        warn(f"{format_count(len(empty), 'topic')} without candidates: {list_names(empty)}")
    sizes = f"{format_count(table.n_rows, 'row')} of {format_count(table.n_features, 'feature')}"
    note(f"{sizes} for {format_count(table.n_queries, 'topic')}{destination(output)}")
