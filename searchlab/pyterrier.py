"""PyTerrier: pipelines and models of searchlab as transformers.

    from searchlab.pyterrier import Reranker, Retriever

    bm25 = Retriever(engine)
    pt.Experiment([bm25, bm25 % 100 >> Reranker(bundle, engine)], topics, qrels, ["map"])

Both are `pyterrier.Transformer`s: they compose with those of PyTerrier by its operators. No Java is started.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from searchlab.errors import SettingError
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.rerank import rerank
from searchlab.records import Topic
from searchlab.retrieval.composition.base_pipeline import BasePipeline
from searchlab.retrieval.document_list import best_first
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.results import Hits
from searchlab.types import Floats

try:
    import pandas as pd
    import pyterrier as pt
except ImportError:
    raise SettingError(
        "PyTerrier is not installed, expected it for searchlab.pyterrier: `pip install searchlab[pyterrier]`"
    ) from None


class Retriever(pt.Transformer):  # type: ignore[misc]
    """An engine, searched by BM25, or a pipeline, as a transformer: topics in, results out.

    Each row of topics (qid, query, and further columns, which are kept) becomes a row for each of its `num_results`
    best documents, with docno, score and rank, from 0 as everywhere in PyTerrier.
    """

    def __init__(self, engine_or_pipeline: SearchEngine | BasePipeline, num_results: int = 1000) -> None:
        super().__init__()
        pipeline = engine_or_pipeline
        if isinstance(pipeline, SearchEngine):
            pipeline = pipeline.retriever()
        self.pipeline = _require_pipeline(pipeline)
        self.num_results = num_results

    def __repr__(self) -> str:
        return f"Retriever({self.pipeline.label}, num_results={self.num_results})"

    def transform(self, topics: Any) -> Any:
        """The best documents for each topic."""
        pt.validate.query_frame(topics, ["query"])
        # The rows are numbered: their qids need not be distinct.
        texts = [Topic(str(number), text) for number, text in enumerate(topics["query"])]
        run = self.pipeline.run(texts, self.num_results)
        kept = topics.drop(columns=["docno", "score", "rank"], errors="ignore")
        rows = np.repeat(np.arange(len(topics)), np.diff(run.group_offsets))
        found = kept.iloc[rows].reset_index(drop=True)
        return found.assign(docno=run.docnos, score=run.scores, rank=run.ranks - 1)


class Reranker(pt.Transformer):  # type: ignore[misc]
    """A model, or a pipeline, as a transformer that scores the documents of other results.

    The model is anything that `searchlab.rerank` takes, together with the `engine` of the index that has the documents;
    a pipeline brings its engine along. A document that a pipeline does not find for the query gets 0, or the lowest
    score of the others if that is lower.
    """

    def __init__(self, pipeline_or_model: Any, engine: SearchEngine | None = None) -> None:
        super().__init__()
        if isinstance(pipeline_or_model, SearchEngine):
            raise SettingError("found the engine first, expected the model: Reranker(model, engine)")
        if isinstance(pipeline_or_model, BasePipeline):
            self._scores: _PipelineScores | _ModelScores = _PipelineScores(pipeline_or_model)
        elif isinstance(engine, SearchEngine):
            self._scores = _ModelScores(pipeline_or_model, engine)
        else:
            raise SettingError(f"engine is {engine!r}, expected the engine of the index that has the documents")

    def __repr__(self) -> str:
        return f"Reranker({self._scores.label})"

    def transform(self, results: Any) -> Any:
        """The same documents with new scores and ranks, best first within each query."""
        pt.validate.result_frame(results, ["query"])
        ranked = [self._rank(group) for _, group in results.groupby("qid", sort=False, group_keys=False)]
        if not ranked:
            return results.assign(score=np.zeros(0), rank=np.zeros(0, np.int64))
        return pd.concat(ranked, ignore_index=True)

    def _rank(self, group: Any) -> Any:
        docnos = [str(docno) for docno in group["docno"]]
        scores = self._scores.of(str(group["query"].iloc[0]), docnos)
        order = best_first(scores, docnos)
        return group.iloc[order].assign(score=scores[order], rank=np.arange(len(order)))


class _PipelineScores:
    """The scores of documents by a pipeline."""

    def __init__(self, pipeline: BasePipeline) -> None:
        self._pipeline = pipeline
        self.label = pipeline.label

    def of(self, query: str, docnos: list[str]) -> Floats:
        hits = self._pipeline.search(query, k=None)
        found = dict(zip(hits.docnos, hits.scores.tolist(), strict=True))
        lowest = min([0.0, *found.values()])
        return np.array([found.get(docno, lowest) for docno in docnos])


class _ModelScores:
    """The scores of documents by a model."""

    def __init__(self, model: Bundle | str | Path | Any, engine: SearchEngine) -> None:
        step = rerank(model)
        self._engine = engine
        self._model = step.make_model(engine)
        self._retriever = engine.retriever()
        self.label = step.label

    def of(self, query: str, docnos: list[str]) -> Floats:
        search = self._retriever.start(query)
        addresses = np.array([self._engine.snapshot.locate(docno) for docno in docnos], np.int64).reshape(-1, 2)
        columns = addresses[:, 0], addresses[:, 1], np.zeros(len(docnos))
        documents = Hits(self._engine.snapshot, search.query, *columns, 0.0, compiled=self._engine.compiled)
        return self._model.score_hits(search, documents).scores


def _require_pipeline(value: object) -> BasePipeline:
    if not isinstance(value, BasePipeline):
        raise SettingError(f"found {value!r}, expected an engine or a pipeline of searchlab")
    return value
