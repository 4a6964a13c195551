"""Which documents are to be judged, in which order?

A pool is the union of the first documents of several rankings (Sparck Jones & van Rijsbergen 1975; TREC). Its order
must not tell who found a document, nor at which rank: it follows from a hash of seed, topic and document alone. So it
is the same whoever was asked, in which order, and on another day; documents that a further ranker adds come in between,
and the others keep their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import islice

from searchlab.errors import SettingError


def pool_documents(rankings: Mapping[str, Sequence[str]], depth: int, seed: int = 0, *, qid: str = "") -> list[str]:
    """The first `depth` documents of each ranking of topic `qid` (docnos by ranker, best first), in a blind order."""
    if depth < 1:
        raise SettingError(f"depth is {depth}, expected 1 or more")
    found = {docno for ranking in rankings.values() for docno in islice(ranking, depth)}
    # Of two equal hashes, which never occur, the docno decides.
    return sorted(found, key=lambda docno: (_shuffled(seed, qid, docno), docno))


def _shuffled(seed: int, qid: str, docno: str) -> bytes:
    # The length of the qid parts it from the docno: no other pair is written the same.
    written = f"{seed} {len(qid)} {qid}{docno}"
    return blake2b(written.encode("utf-8", "surrogatepass"), digest_size=16).digest()
