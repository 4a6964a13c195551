"""PyTerrier: pipelines and models of searchlab as transformers.

    from searchlab.pyterrier import Reranker, Retriever

    bm25 = Retriever(engine)
    pt.Experiment([bm25, bm25 % 100 >> Reranker(bundle, engine)], topics, qrels, ["map"])

Both are `pyterrier.Transformer`s: they compose with those of PyTerrier by its operators. No Java is started.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.errors import DuplicateError, SettingError
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.opening import open as open_index
from searchlab.rankers.rerank import rerank
from searchlab.records import Topic
from searchlab.retrieval.composition.base_pipeline import BasePipeline
from searchlab.retrieval.document_list import best_first
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.results import Hits
from searchlab.scorers.base import Scorer
from searchlab.types import Floats

try:
    import pandas as pd
    import pyterrier as pt
except ImportError:
    raise SettingError(
        "PyTerrier is not installed, expected it for searchlab.pyterrier: `pip install searchlab[pyterrier]`"
    ) from None


class Retriever(pt.Transformer):  # type: ignore[misc]
    """An engine or the path of an index, with a scorer, or a pipeline, as a transformer: topics in, results out.

    The `scorer` is BM25 by default; a pipeline has its own. Each row of topics (qid, query, and further columns, which
    are kept) becomes a row for each of its `num_results` best documents, None for all, with docno, score and rank,
    from 0 as everywhere in PyTerrier.
    """

    def __init__(
        self,
        engine_or_pipeline: SearchEngine | BasePipeline | str | Path,
        num_results: int | None = 1000,
        *,
        scorer: Scorer | str | None = None,
    ) -> None:
        super().__init__()
        if num_results is not None and (type(num_results) is not int or num_results < 1):
            raise SettingError(
                f"num_results is {num_results!r}, expected a whole number of at least 1, or None for all"
            )
        given = engine_or_pipeline
        if isinstance(given, str | Path):
            given = open_index(given)
        if isinstance(given, SearchEngine):
            given = given.retriever(scorer)
        elif scorer is not None:
            raise SettingError(f"scorer is {scorer!r}, expected none beside a pipeline, which has its own")
        self.pipeline = _require_pipeline(given)
        self.num_results = num_results

    def __repr__(self) -> str:
        return f"Retriever({self.pipeline.label}, num_results={self.num_results})"

    def transform(self, topics: Any) -> Any:
        """The best documents for each topic."""
        pt.validate.query_frame(topics, ["query"])
        qids = [str(qid) for qid in topics["qid"]]
        if len(set(qids)) < len(qids):  # rows that share a qid are distinguished by their numbers
            qids = [f"{qid}/{number}" for number, qid in enumerate(qids)]
        run = self.pipeline.run(list(map(Topic, qids, topics["query"])), self.num_results)
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
        twice = [docno for docno, count in Counter(docnos).items() if count > 1]
        if twice:
            raise DuplicateError(f"topic {group['qid'].iloc[0]}", f"document {twice[0]} occurs twice, expected once")
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
        raise SettingError(f"found {value!r}, expected an engine or a pipeline of searchlab, or the path of an index")
    return value
