"""What do training queries say to a mixture?

For each query with judgments: its relevant documents, and as irrelevant ones the best of some first searches that are
not among them, judged or not. Of every word of the query, in each of these documents, each component gives a
probability; that is the evidence from which weights are learnt (see `mixture`, `em`, `mce`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.mixtures.likelihood import Evidence, join, one_query, spread
from searchlab.mixtures.setting_checks import require_number
from searchlab.records import Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.results import Query
from searchlab.scorers.execution.mixture_components import COMPONENTS, UNIGRAMS, MixtureComponents, TopicProbabilities
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.trained_mixture import TrainedMixture
from searchlab.types import Array, Ints, Progress

# What a user names, and the components that it stands for.
FAMILIES = {
    "unigram": ("document", "corpus"),
    "bigram": ("document_bigram", "corpus_bigram"),
    "title": ("title",),
    "body": ("body",),
    "topics": ("topics",),
}
# Irrelevant documents are found by mixtures of little, of some and of much of the document, and of much of each other
# component: where all come from one mixture, every other one seems to do better, since it puts these documents lower.
DOCUMENT_SHARES = (0.1, 0.5, 0.9)
OTHERS_SHARE = 0.5


def name_components(families: Iterable[str]) -> tuple[str, ...]:
    """The components of some families, in their order; the unigrams, which smooth all others, are always there."""
    chosen = {"unigram"}
    for family in families:
        if family not in FAMILIES:
            raise unknown_name("component", family, FAMILIES)
        chosen.add(family)
    named = {name for family in chosen for name in FAMILIES[family]}
    return tuple(name for name in COMPONENTS if name in named)


@dataclass(frozen=True, eq=False)
class TrainingQueries:
    """The evidence of some queries, which are named, and the document of each pair.

    `docs[p]` is the number of pair p's document among `docnos`. `skipped` says, for each reason, which topics are left
    out.
    """

    components: tuple[str, ...]
    evidence: Evidence
    qids: tuple[str, ...]
    docs: Ints
    docnos: tuple[str, ...]
    skipped: Mapping[str, tuple[str, ...]]

    def take(self, queries: Sequence[int]) -> TrainingQueries:
        """Some of the queries, by their numbers."""
        chosen = np.asarray(queries, np.int64)
        pairs = spread(self.evidence.query_offsets[chosen], self.evidence.query_offsets[chosen + 1])
        qids = tuple(self.qids[query] for query in queries)
        return replace(self, evidence=self.evidence.take(chosen), qids=qids, docs=self.docs[pairs])

    def only(self, components: Sequence[str]) -> TrainingQueries:
        """The same with some of the components alone."""
        places = [self.components.index(name) for name in components]
        probabilities = np.ascontiguousarray(self.evidence.probabilities[:, places])
        return replace(self, components=tuple(components), evidence=replace(self.evidence, probabilities=probabilities))

    @property
    def relevant_docs(self) -> Ints:
        """The numbers of the documents that are relevant to any of the queries, ascending."""
        return np.unique(self.docs[self.evidence.relevant])

    def grouped(self, own: Ints) -> Evidence:
        """The evidence with each of these documents, given ascending, as a group, 1 and up; others are group 0."""
        at = np.minimum(np.searchsorted(own, self.docs), len(own) - 1)
        return replace(self.evidence, groups=np.where(own[at] == self.docs, at + 1, 0))


def gather(
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Mapping[str, Mapping[str, float]],
    components: Sequence[str] = ("document", "corpus"),
    *,
    depth: int = 100,
    relevance: float = 1,
    topic_model: TopicProbabilities | None = None,
    progress: Progress | None = None,
) -> TrainingQueries:
    """What the components say of each topic's words, in its relevant documents and in irrelevant ones.

    A document is relevant if its grade is `relevance` or more; `depth` irrelevant ones come from each first search.
    """
    require_number("depth", depth, 1, 1_000_000, whole=True)
    if "topics" in components and topic_model is None:
        raise SettingError("components: topics are among them, expected a topic model")
    asked = list(topics)
    places = [COMPONENTS.index(name) for name in components]
    searches = _first_searches(components, topic_model)
    mixture_components = engine.reader.shared(MixtureComponents)
    pieces: list[Evidence] = []
    qids: list[str] = []
    numbers: dict[str, int] = {}
    docs: list[int] = []
    skipped: dict[str, list[str]] = {}
    for number, topic in enumerate(asked):
        if progress is not None:
            progress("gathering", number, len(asked))
        query = engine.parse(topic.text)
        chosen, reason = _choose(engine, query, qrels.get(topic.qid, {}), searches, depth, relevance)
        if chosen is None:
            skipped.setdefault(reason, []).append(topic.qid)
            continue
        words = mixture_components.words(query, bigrams="document_bigram" in components)
        said = mixture_components.probabilities(words, chosen.shards, chosen.docs, topic_model)[:, :, places]
        pieces.append(one_query(said, np.array([word.count for word in words]), chosen.relevant))
        qids.append(topic.qid)
        docs += [numbers.setdefault(docno, len(numbers)) for docno in chosen.docnos]
    if not pieces:
        reasons = ", ".join(f"{len(found)} {reason}" for reason, found in skipped.items()) or "no topics"
        raise SettingError(f"no query to train with ({reasons})")
    kept = {reason: tuple(found) for reason, found in skipped.items()}
    return TrainingQueries(tuple(components), join(pieces), tuple(qids), np.array(docs, np.int64), tuple(numbers), kept)


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The documents of a query, the relevant ones first."""

    docnos: list[str]
    shards: Array
    docs: Array
    relevant: Array


def _first_searches(components: Sequence[str], topic_model: TopicProbabilities | None) -> list[Mixture]:
    """The mixtures that irrelevant documents are found by."""
    searches = [Mixture(share, 1 - share) for share in DOCUMENT_SHARES]
    for name in components:
        # What the collection's bigrams say is the same for every document.
        if name not in (*UNIGRAMS, "corpus_bigram"):
            weights = {"document": 0.1, "corpus": 0.9 - OTHERS_SHARE, name: OTHERS_SHARE}
            searches.append(TrainedMixture(**weights, topic_model=topic_model, document_weights=None))
    return searches


def _choose(
    engine: SearchEngine,
    query: Query,
    grades: Mapping[str, float],
    searches: Sequence[Mixture],
    depth: int,
    relevance: float,
) -> tuple[_Chosen | None, str]:
    """The documents of a query; None, and why, if it has nothing to say."""
    good = {docno for docno, grade in grades.items() if grade >= relevance}
    if not good:
        return None, "without relevant documents"
    if not query.terms:
        return None, "without known words"
    places = {}
    for docno in sorted(good):
        with suppress(SettingError):
            places[docno] = engine.snapshot.locate(docno)
    if not places:
        return None, "whose relevant documents are not in the index"
    n_relevant = len(places)
    for scorer in searches:
        hits = engine.search(query, k=depth + len(good), scorer=scorer)
        found = zip(hits.docnos, hits.shards.tolist(), hits.docs.tolist(), strict=True)
        wrong = [(docno, (shard, doc)) for docno, shard, doc in found if docno not in good]
        places |= dict(wrong[:depth])
    located = np.array(list(places.values()), np.int64)
    relevant = np.arange(len(places)) < n_relevant
    return _Chosen(list(places), located[:, 0], located[:, 1], relevant), ""
