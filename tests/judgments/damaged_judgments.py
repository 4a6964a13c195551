"""A database of judgments with everything in it, what reading it gives, and random damage to its file."""

import random
import sqlite3
from pathlib import Path

from searchlab.judgments.judgment_store import JudgmentStore

PAGE_BYTES = 4096
QIDS = [f"q{number}" for number in range(8)]


def fill(path: Path, n_acts: int = 300) -> Path:
    """Topics, acts, undone acts and past queries, in one file without a write-ahead log."""
    rng = random.Random(1)
    with JudgmentStore(path) as store:
        for qid in QIDS:
            store.add_topic("trials", f"heat flow {qid} over wings", qid)
        for number in range(n_acts):
            docno, judge = f"doc-{rng.randrange(120)}", rng.choice(["ann", "bob"])
            note = "a note" * rng.randrange(3)
            store.judge("trials", rng.choice(QIDS), docno, judge=judge, grade=rng.randrange(3), note=note)
            if number % 25 == 0:
                store.undo("ann")
        for number in range(60):
            store.record_queries(f"Past query {number}")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    return path


def read_everything(path: Path) -> object:
    """All that a store says."""
    with JudgmentStore(path) as store:
        return (
            store.topic_sets(),
            store.topics("trials"),
            [store.topic("trials", qid) for qid in QIDS],
            [store.find_topic(f"heat flow {qid} over wings") for qid in QIDS],
            store.judgments("trials"),
            [store.judgments("trials", qid, judge) for qid in QIDS for judge in ("ann", "bob")],
            store.grades("trials"),
            store.grades("trials", "ann"),
            store.past_queries("", 1000),
            store.version(),
        )


def damage(content: bytes, rng: random.Random) -> bytes:
    """`content` with a flipped bit, some random bytes, a page in place of another, or a stretch of zeros."""
    altered = bytearray(content)
    start, n_pages = rng.randrange(len(altered)), len(altered) // PAGE_BYTES
    kind = rng.randrange(4)
    if kind == 0:
        altered[start] ^= 1 << rng.randrange(8)
    elif kind == 1:
        for _ in range(rng.randrange(1, 9)):
            altered[rng.randrange(len(altered))] = rng.randrange(256)
    elif kind == 2:
        to, source = (PAGE_BYTES * rng.randrange(n_pages) for _ in range(2))
        altered[to : to + PAGE_BYTES] = altered[source : source + PAGE_BYTES]
    else:
        end = min(start + rng.randrange(1, 200), len(altered))
        altered[start:end] = bytes(end - start)
    return bytes(altered)
