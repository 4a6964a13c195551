"""Training queries of a mixture: their relevant and irrelevant documents, and the evidence of its components.

The irrelevant documents of a query are the best of some first searches that are not judged relevant. The evidence is
the probability of every word of the query, in each of its documents, by each component; weights are learnt from it (see
`likelihood`, `em`, `mce`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.errors import SettingError, unknown_name
from searchlab.indexing.storage.columns import NGRAMS
from searchlab.mixtures.likelihood import Evidence, Levels, join, one_query
from searchlab.mixtures.setting_checks import require_number
from searchlab.records import Topic
from searchlab.retrieval.composition.topic_batch import search_numbered
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.probability_reading import read_probabilities
from searchlab.retrieval.results import Query
from searchlab.scorers.execution.mixture_components import (
    COMPONENTS,
    NGRAM_COMPONENTS,
    UNIGRAMS,
    MixtureComponents,
    TopicProbabilities,
)
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.trained_mixture import TrainedMixture
from searchlab.types import Array, Ints, Progress, no_progress

# Names for the user, and the components they stand for.
FAMILIES = {
    "unigram": ("document", "corpus"),
    "bigram": ("document_bigram", "corpus_bigram"),
    "title": ("title",),
    "body": ("body",),
    "topics": ("topics",),
    "ngrams": NGRAM_COMPONENTS,
}
# Irrelevant documents are found by mixtures with a low, a medium and a high weight of the document, and with a high
# weight of each other component. If all came from one mixture, every other one would seem better, because it ranks
# these documents lower.
DOCUMENT_SHARES = (0.1, 0.5, 0.9)
OTHERS_SHARE = 0.5


def name_components(families: Iterable[str]) -> tuple[str, ...]:
    """The components of some families, in their order; unigrams are always included, because they smooth all others."""
    chosen = {"unigram"}
    for family in families:
        if family not in FAMILIES:
            raise unknown_name("component", family, FAMILIES)
        chosen.add(family)
    named = {name for family in chosen for name in FAMILIES[family]}
    return tuple(name for name in COMPONENTS if name in named)


@dataclass(frozen=True, eq=False)
class TrainingQueries:
    """The evidence of some queries with their qids, and the document of each pair.

    `docs[p]` is the number of pair p's document in `docnos`. `skipped` has the topics that are left out, by reason.
    """

    components: tuple[str, ...]
    evidence: Evidence
    qids: tuple[str, ...]
    docs: Ints
    docnos: tuple[str, ...]
    skipped: Mapping[str, tuple[str, ...]]

    def take(self, queries: Sequence[int]) -> TrainingQueries:
        """Some of the queries, by number."""
        chosen = np.asarray(queries, np.int64)
        offsets = self.evidence.query_offsets
        pairs = concatenate_ranges(offsets[chosen], offsets[chosen + 1], self.evidence.n_pairs)
        qids = tuple(self.qids[query] for query in queries)
        return replace(self, evidence=self.evidence.take(chosen), qids=qids, docs=self.docs[pairs])

    def only(self, components: Sequence[str]) -> TrainingQueries:
        """The same queries with some of the components."""
        columns = [self.components.index(name) for name in components]
        return replace(self, components=tuple(components), evidence=self.evidence.only(columns))

    @property
    def relevant_docs(self) -> Ints:
        """The numbers of the documents that are relevant to a query, ascending."""
        return np.unique(self.docs[self.evidence.relevant])

    def grouped(self, docs: Ints) -> Evidence:
        """The evidence with a group for each of these documents (ascending), from 1; all others are group 0."""
        at = np.minimum(np.searchsorted(docs, self.docs), len(docs) - 1)
        return replace(self.evidence, groups=np.where(docs[at] == self.docs, at + 1, 0))


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
    """Gather the evidence of the components for each topic, in its relevant documents and in irrelevant ones.

    A document is relevant if its grade is at least `relevance`; each first search adds up to `depth` irrelevant ones.
    """
    require_number("depth", depth, 1, 1_000_000, whole=True)
    if "topics" in components and topic_model is None:
        raise SettingError("components include topics, expected a topic model")
    listed = list(topics)
    columns = [COMPONENTS.index(name) for name in components]
    component_levels = np.array([name in NGRAM_COMPONENTS for name in components], np.int64)
    if component_levels.any():
        engine.snapshot.require_stream(NGRAMS)
    searches = _first_searches(components, topic_model)
    mixture_components = engine.reader.shared(MixtureComponents)

    def find_evidence(number: int) -> tuple[Sequence[str], Evidence | None, str]:
        query = engine.parse(listed[number].text)
        chosen, reason = _choose_documents(engine, query, qrels.get(listed[number].qid, {}), searches, depth, relevance)
        if chosen is None:
            return (), None, reason
        words = mixture_components.words(query, bigrams="document_bigram" in components)
        levels = None
        if component_levels.any():
            words += mixture_components.ngrams(query)
            levels = Levels(np.array([word.is_ngram for word in words], np.int64), component_levels)
        probabilities = read_probabilities(engine, words, chosen.shards, chosen.docs, topic_model)[:, :, columns]
        counts = np.array([word.count for word in words])
        return chosen.docnos, one_query(probabilities, counts, chosen.relevant, levels=levels), ""

    found = search_numbered(
        find_evidence,
        len(listed),
        jobs=engine.topics_at_a_time,
        progress=progress or no_progress,
        stop=engine.interrupt,
        stage="gathering",
    )
    pieces: list[Evidence] = []
    qids: list[str] = []
    numbers: dict[str, int] = {}
    docs: list[int] = []
    skipped: dict[str, list[str]] = {}
    for topic, (docnos, evidence, reason) in zip(listed, found, strict=True):
        if evidence is None:
            skipped.setdefault(reason, []).append(topic.qid)
            continue
        pieces.append(evidence)
        qids.append(topic.qid)
        docs += [numbers.setdefault(docno, len(numbers)) for docno in docnos]
    if not pieces:
        reasons = ", ".join(f"{len(each)} {reason}" for reason, each in skipped.items()) or "no topics"
        raise SettingError(f"no query to train with ({reasons})")
    return TrainingQueries(
        tuple(components),
        join(pieces),
        tuple(qids),
        np.array(docs, np.int64),
        tuple(numbers),
        {reason: tuple(each) for reason, each in skipped.items()},
    )


@dataclass(frozen=True, eq=False)
class _QueryDocuments:
    """The documents of a query, the relevant ones first."""

    docnos: list[str]
    shards: Array
    docs: Array
    relevant: Array


def _first_searches(components: Sequence[str], topic_model: TopicProbabilities | None) -> list[Mixture]:
    """The mixtures that find irrelevant documents."""
    searches = [Mixture(share, 1 - share) for share in DOCUMENT_SHARES]
    for name in components:
        # The bigrams and n-grams of the collection are equally likely in every document.
        if name not in (*UNIGRAMS, "corpus_bigram", "ngram_corpus"):
            weights = {"document": 0.1, "corpus": 0.9 - OTHERS_SHARE, name: OTHERS_SHARE}
            if name == "ngram_document":
                weights |= {name: OTHERS_SHARE / 2, "ngram_corpus": OTHERS_SHARE / 2}
            searches.append(TrainedMixture(**weights, topic_model=topic_model, document_weights=None))
    return searches


def _choose_documents(
    engine: SearchEngine,
    query: Query,
    grades: Mapping[str, float],
    searches: Sequence[Mixture],
    depth: int,
    relevance: float,
) -> tuple[_QueryDocuments | None, str]:
    """The documents of a query; None and the reason if it cannot be trained with."""
    relevant_docnos = {docno for docno, grade in grades.items() if grade >= relevance}
    if not relevant_docnos:
        return None, "without relevant documents"
    if not query.terms:
        return None, "without known words"
    addresses = {}
    for docno in sorted(relevant_docnos):
        with suppress(SettingError):
            addresses[docno] = engine.snapshot.locate(docno)
    if not addresses:
        return None, "whose relevant documents are not in the index"
    n_relevant = len(addresses)
    for scorer in searches:
        hits = engine.search(query, k=depth + len(relevant_docnos), scorer=scorer)
        listed = zip(hits.docnos, hits.shards.tolist(), hits.docs.tolist(), strict=True)
        irrelevant = [(docno, (shard, doc)) for docno, shard, doc in listed if docno not in relevant_docnos]
        addresses |= dict(irrelevant[:depth])
    located = np.array(list(addresses.values()), np.int64)
    relevant = np.arange(len(addresses)) < n_relevant
    return _QueryDocuments(list(addresses), located[:, 0], located[:, 1], relevant), ""
