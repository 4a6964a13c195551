"""The option --rerank: hits ordered by a trained model, or by the default ranker of the index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from searchlab.cli.messages import note, warn
from searchlab.cli.options import given_options
from searchlab.cli.progress import stage_bar
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.features.user_defined.external_features import ExternalFeature
    from searchlab.rankers.reranking import Reranker
    from searchlab.records import Topic
    from searchlab.retrieval.composition.base_pipeline import PipelineHits
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.pipeline import Pipeline
    from searchlab.retrieval.results import Explanation

# How fast a semantic space is made (benchmarks/semantic.py), and from when on that is worth a note.
DOCUMENTS_PER_SECOND = 5000
MIN_NOTED_SECONDS = 5

# Options of the first stage, which a model determines.
FIRST_STAGE_OPTIONS = ("scorer", "settings", "weights", "stream", "expand")

RerankOption = Annotated[
    str | None,
    typer.Option(
        "--rerank",
        metavar="MODEL",
        help="Re-rank the best by a model, as `train` writes it, or `builtin`; `default` is the index's default ranker",
    ),
]


def refuse_first_stage_options(context: typer.Context) -> None:
    """Refuse options of the first stage next to --rerank: a model fits only the candidates of its first stage."""
    for name, option in given_options(context).items():
        if name in FIRST_STAGE_OPTIONS:
            raise SettingError(f"{option} with --rerank: the model determines the first stage; expected one of the two")


class OpenRanking(NamedTuple):
    """What --rerank names, opened: a pipeline, its model if it has one, and the name of what ranks."""

    pipeline: Pipeline
    reranker: Reranker | None
    name: str


def open_ranking(
    model: str, engine: SearchEngine, external: Sequence[ExternalFeature] = (), topics: Sequence[Topic] = ()
) -> OpenRanking:
    """A model for an index, or its default ranker, which may be a scorer."""
    from searchlab.rankers.model_store.default_ranker import DEFAULT, require_default_ranker
    from searchlab.rankers.model_store.model_files import find_model
    from searchlab.rankers.systems import make_system

    if model == DEFAULT:
        folder = engine.snapshot.folder
        default = require_default_ranker(folder)
        note(f"ranked by {default.system}, the default ranker of {folder.name}")
        if default.model is None:
            return OpenRanking(make_system(engine, default.system).pipeline, None, default.system)
        model = str(find_model(folder, default.model))
    reranker = open_reranker(model, engine, external, topics)
    return OpenRanking(reranker.pipeline(), reranker, reranker.bundle.ranker)


def open_reranker(
    model: str, engine: SearchEngine, external: Sequence[ExternalFeature] = (), topics: Sequence[Topic] = ()
) -> Reranker:
    """A model for an index; refused if they do not fit. `external` has scores for the topics."""
    from searchlab.features.prerequisites import lacks_space
    from searchlab.rankers.builtin import as_bundle
    from searchlab.rankers.reranking import Reranker, build_missing, features_of

    bundle = as_bundle(model)
    seconds = len(engine) / DOCUMENTS_PER_SECOND
    if seconds > MIN_NOTED_SECONDS and lacks_space(engine, features_of(bundle)):
        about = f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
        note(f"making the semantic space of {len(engine):,} documents, once: about {about}")
    with stage_bar() as progress:
        for remark in build_missing(engine, bundle, progress):
            note(remark)
    reranker = Reranker(engine, bundle, external, topics)
    remark = bundle.describe_transfer(engine)
    if remark:
        warn(remark)
    if reranker.bundle.first_stage is None:
        note(f"{model} was trained from a file, without a first stage: it re-ranks {reranker.first_stage.label}")
    return reranker


def source_of(topics: str | None, qrels: str | None) -> str:
    """Where a model's topics and judgments came from, as its file records it."""
    return f"topics {topics or 'of its collection'}, judgments {qrels or 'of its collection'}"


def warn_of_known_topics(reranker: Reranker, topics: Sequence[Topic], *, of_collection: bool) -> None:
    """Warn that a run of topics that the model was trained on is no test of it.

    `of_collection` says whether the topics are those of the collection that was indexed.
    """
    index_name = reranker.engine.snapshot.folder.name
    if reranker.bundle.has_learnt_from(topics, index_name, lambda: topics if of_collection else ()):
        warn("the model was trained on these topics: its cross-validation shows how well it ranks others")


def explain_hits(hits: PipelineHits) -> list[Explanation | None]:
    """Why hits have their scores; None for hits below the candidates that a model re-ranks."""
    explainable = hits.docnos
    search = hits.search.retrieval
    if search.pipeline.model is not None:
        candidates = set(search.reranked.documents.docnos)
        explainable = [docno for docno in hits.docnos if docno in candidates]
    explanations = dict(zip(explainable, hits.search.explain(explainable), strict=True))
    return [explanations.get(docno) for docno in hits.docnos]
