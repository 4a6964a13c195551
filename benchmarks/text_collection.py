"""A collection of real text: judged collections put together, and repeated with words left out at random.

Each repetition of a document lacks a random share of its words, so that no two are equal and term frequencies and
lengths differ as they do in real text. The queries are the topics of the collections. Everything is seeded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from collection import count_lines
from judged_collections import COLLECTIONS
from quality import find

import searchlab

SEED = 350
MAX_DROPOUT = 0.5


def write_collection(path: Path, n_docs: int, folder: Path) -> None:
    """Write documents as JSONL, unless they are there already."""
    if path.exists() and count_lines(path) == n_docs:
        return
    texts = [
        (f"{name}-{document.docno}", document.title.split(), document.body.split())
        for name in COLLECTIONS
        for document in searchlab.read_documents(find(folder / name, "docs.jsonl"))
    ]
    rng = np.random.default_rng(SEED)
    with path.open("w") as file:
        for number in range(n_docs):
            repetition, at = divmod(number, len(texts))
            docno, title, body = texts[at]
            dropout = MAX_DROPOUT * rng.random() if repetition else 0.0
            kept = {
                "docno": f"{docno}-{repetition}",
                "title": " ".join(_drop(title, dropout, rng)),
                "body": " ".join(_drop(body, dropout, rng)),
            }
            file.write(json.dumps(kept) + "\n")


def _drop(words: list[str], dropout: float, rng: np.random.Generator) -> Iterator[str]:
    return (word for word, kept in zip(words, (rng.random(len(words)) >= dropout).tolist(), strict=True) if kept)


def make_queries(folder: Path) -> list[str]:
    """The distinct topics of all collections, one collection's among the others'."""
    topics = [topic.text for name in COLLECTIONS for topic in searchlab.read_topics(find(folder / name, "topics.tsv"))]
    distinct = list(dict.fromkeys(topics))
    return [distinct[at] for at in np.random.default_rng(SEED).permutation(len(distinct)).tolist()]
