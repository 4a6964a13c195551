"""Pooling: the documents to judge for a topic, in a blind order.

A pool is the union of the top documents of several rankings (Sparck Jones & van Rijsbergen 1975; TREC). Its order must
not reveal which system found a document, nor at which rank: it depends only on a hash of seed, topic and document. It
is the same for any order of the systems and at any time; adding a system inserts documents and keeps the order of the
others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import islice

from searchlab.errors import SettingError


def pool_documents(rankings: Mapping[str, Sequence[str]], depth: int, seed: int = 0, *, qid: str = "") -> list[str]:
    """The first `depth` documents of each ranking of topic `qid` (docnos by system, best first), in a blind order."""
    if depth < 1:
        raise SettingError(f"depth is {depth}, expected 1 or more")
    pool = {docno for ranking in rankings.values() for docno in islice(ranking, depth)}
    # Equal hashes, which do not occur in practice, are ordered by docno.
    return sorted(pool, key=lambda docno: (_hash(seed, qid, docno), docno))


def _hash(seed: int, qid: str, docno: str) -> bytes:
    # The length of the qid separates it from the docno: different pairs give different texts.
    text = f"{seed} {len(qid)} {qid}{docno}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
