"""How are results ordered by a trained model, from the command line?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.messages import note
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.rankers.explanation import ScoreExplanation
    from searchlab.rankers.reranking import Reranker
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.results import Hits, Query

# What a model brings along: how candidates are found.
BROUGHT_ALONG = ("scorer", "settings", "weights", "stream", "expand")

RerankOption = Annotated[
    str | None, typer.Option("--rerank", metavar="MODEL", help="Order the best by a model that `train` wrote")
]


def refuse_what_a_model_brings(context: typer.Context) -> None:
    """A model was trained on what its own first search finds: another one cannot be asked for."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in BROUGHT_ALONG and source is not None and source.name == "COMMANDLINE":
            raise SettingError(
                f"{parameter.opts[-1]} with --rerank: the model brings its own first search, expected one of the two"
            )


def open_reranker(model: str, engine: SearchEngine) -> Reranker:
    """A model at work on an index; refused if they do not fit."""
    from searchlab.rankers.bundle import load_bundle
    from searchlab.rankers.reranking import Reranker

    reranker = Reranker(engine, load_bundle(model))
    if reranker.bundle.first_stage is None:
        note(f"{model} was trained from a file and does not say what it re-ranks: {reranker.first_stage.label}")
    return reranker


def source_of(topics: str | None, qrels: str | None) -> str:
    """What a model keeps of where its topics came from."""
    return f"topics {topics or 'of its collection'}, judgments {qrels or 'of its collection'}"


def warn_of_known_topics(reranker: Reranker, topics: str | None) -> None:
    """Say that a run of the topics that a model has learnt from is no test of it."""
    training, folder = reranker.bundle.training, reranker.engine.snapshot.folder
    known = str(training.get("source", "")).startswith(source_of(topics, None).partition(",")[0] + ",")
    if known and dict(training.get("index") or {}).get("name") == folder.name:
        note("the model has learnt from these topics: how well it does on others, its cross-validation says")


def explain_hits(
    reranker: Reranker, query: Query, hits: Hits, filters: tuple[str, ...]
) -> list[ScoreExplanation | None]:
    """Why the documents found have their scores; None for those beyond what is re-ranked."""
    known = set(reranker.first_stage.of(reranker.engine, query, filters).docnos)
    own = [docno for docno in hits.docnos if docno in known]
    accounts = {account.docno: account for account in reranker.explain(query, own, filters=filters)}
    return [accounts.get(docno) for docno in hits.docnos]
