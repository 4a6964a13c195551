"""Opening an index for searching, with or without a model that re-ranks."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from searchlab.indexing.index_names import locate_index
from searchlab.retrieval.engine import SearchEngine
from searchlab.types import Progress, no_progress

if TYPE_CHECKING:
    from searchlab.rankers.bundle import Bundle
    from searchlab.retrieval.pipeline import Pipeline
    from searchlab.retrieval.results import Hits, Query


def open(
    name: str | Path,
    *,
    compiled: bool = True,
    language: str | None = None,
    synonyms: Any = None,
    rerank: Bundle | str | Path | None = None,
    progress: Progress = no_progress,
) -> SearchEngine:
    """Open an index, by its folder or by its name in `indexes/`, for searching (see `SearchEngine`).

    With `rerank`, a model, the path of one, or `"builtin"`, searches that name no scorer are re-ranked by it; with
    `"default"`, they are ranked by the default ranker of the index, a model or a scorer. What the model needs of the
    index and is not there yet, such as the semantic space, is made first and kept in the index.
    """
    folder = locate_index(name)
    if rerank is None:
        return SearchEngine(folder, compiled=compiled, language=language, synonyms=synonyms)
    from searchlab.rankers.builtin import as_bundle
    from searchlab.rankers.model_store.default_ranker import DEFAULT, require_default_ranker
    from searchlab.rankers.model_store.model_files import find_model
    from searchlab.rankers.reranking import build_missing, warn_of_transfer

    if rerank == DEFAULT:
        default = require_default_ranker(folder)
        if default.model is None:
            return SystemEngine(folder, default.system, compiled=compiled, language=language, synonyms=synonyms)
        rerank = find_model(folder, default.model)
    bundle = as_bundle(rerank)
    engine = RerankingEngine(folder, bundle, compiled=compiled, language=language, synonyms=synonyms)
    build_missing(engine, bundle, progress)
    warn_of_transfer(engine, bundle)
    _ = engine.pipeline
    return engine


class RankedEngine(SearchEngine):
    """A search engine whose results have the order of a pipeline, unless a scorer or an expansion is asked for."""

    @property
    def pipeline(self) -> Pipeline:
        """What orders the results."""
        raise NotImplementedError

    def search(self, query: str | Query, k: int | None = 10, **options: Any) -> Hits:
        """The k best documents in the order of the pipeline; with a scorer, an expansion or a stream as without it.

        Other options are those of `SearchEngine.search`.
        """
        first_stage = {"scorer", "expansion", "stream"}
        if any(options.get(name) is not None for name in first_stage):
            return super().search(query, k, **options)
        return self.pipeline.search(query, k=k, **{name: options[name] for name in options.keys() - first_stage})


class RerankingEngine(RankedEngine):
    """A search engine whose results are re-ranked by a model."""

    def __init__(self, folder: str | Path, bundle: Bundle, **options: Any) -> None:
        super().__init__(folder, **options)
        self.bundle = bundle

    @cached_property
    def pipeline(self) -> Pipeline:
        """The first stage of the model, and the model."""
        from searchlab.rankers.reranking import Reranker

        return Reranker(self, self.bundle).pipeline()


class SystemEngine(RankedEngine):
    """A search engine whose results are ranked by a scorer by the name of its system, such as `bm25+rm3`."""

    def __init__(self, folder: str | Path, system: str, **options: Any) -> None:
        super().__init__(folder, **options)
        self.system = system

    @cached_property
    def pipeline(self) -> Pipeline:
        """The scorer, and the expansion if it has one."""
        from searchlab.rankers.systems import make_system

        return make_system(self, self.system).pipeline
