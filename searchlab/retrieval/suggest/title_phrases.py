"""Title phrases: pairs of words that stand side by side in several titles, as examples of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from searchlab.indexing.snapshot import Snapshot

# Titles are read of this many documents, evenly spread over the index.
MAX_READ_TITLES = 1000
MAX_TITLE_LENGTH = 300
MIN_TITLES = 2
# A word of fewer letters says little by itself.
MIN_WORD_LENGTH = 3


def frequent_title_phrases(snapshot: Snapshot, n: int = 6) -> list[str]:
    """The n pairs of words that the most titles have, as most of them write it; no two phrases share a word.

    Complexity: one pass over at most `MAX_READ_TITLES` titles, of which each phrase is counted once.
    """
    n_titles: Counter[tuple[str, str]] = Counter()
    forms: dict[tuple[str, str], Counter[str]] = {}
    for title in _sample_titles(snapshot):
        spans = list(snapshot.analyzer.spans(title))
        phrases: dict[tuple[str, str], str] = {}
        for left, right in pairwise(spans):
            words = title[left.start : left.end], title[right.start : right.end]
            between = title[left.end : right.start]
            if not (left.term and right.term) or left.term == right.term or between not in (" ", "-"):
                continue
            if min(map(len, words)) >= MIN_WORD_LENGTH and not any(word.isdecimal() for word in words):
                phrases.setdefault((left.term, right.term), " ".join(words).lower())
        for terms, form in phrases.items():
            n_titles[terms] += 1
            forms.setdefault(terms, Counter())[form] += 1
    chosen: list[str] = []
    taken: set[str] = set()
    for terms, count in sorted(n_titles.items(), key=lambda each: (-each[1], each[0])):
        if count < MIN_TITLES or len(chosen) == n:
            break
        if taken.isdisjoint(terms):
            taken.update(terms)
            chosen.append(min(forms[terms].items(), key=lambda each: (-each[1], each[0]))[0])
    return chosen


def _sample_titles(snapshot: Snapshot) -> Iterator[str]:
    with snapshot.report_damage():
        for shard in snapshot.shards:
            docs = shard.live_docs
            share = max(MAX_READ_TITLES * len(docs) // max(snapshot.n_docs, 1), 1)
            for doc in docs[np.unique(np.linspace(0, len(docs) - 1, min(share, len(docs))).astype(np.int64))].tolist():
                yield shard.stored.read(doc).title[:MAX_TITLE_LENGTH]
