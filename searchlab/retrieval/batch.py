"""How are many topics searched, and written as a run?

A TREC run has a line for each document found: `qid Q0 docno rank score tag`. Scores are written so that
reading them gives the same numbers back.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from searchlab.errors import SettingError, WriteFailed
from searchlab.records import Ranking, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.scoring.dense import AnyScorer


def search_topics(
    engine: SearchEngine,
    topics: Iterable[Topic],
    *,
    k: int | None = 1000,
    scorer: AnyScorer | None = None,
    stream: str = "both",
    language: str = "plain",
    filters: Sequence[Filter | str] = (),
    expansion: RM3 | None = None,
) -> Iterator[Ranking]:
    """The ranking of each topic, in their order; topics are plain words unless `language` is full."""
    for topic in topics:
        query = engine.parse(topic.text, scorer, stream, language)
        if expansion is not None:
            first = engine.search(query, k=expansion.documents, scorer=scorer, stream=stream, filters=filters)
            query = expansion.learn(engine, first, stream=stream)
        hits = engine.search(query, k=k, scorer=scorer, stream=stream, filters=filters)
        yield Ranking(topic.qid, hits.docnos, hits.scores.tolist())


def write_run(file: TextIO, rankings: Iterable[Ranking], tag: str = "searchlab") -> None:
    """Write rankings as a TREC run."""
    if not tag or any(character.isspace() for character in tag):
        raise SettingError(f"tag is {tag!r}, expected a word without blanks")
    for ranking in rankings:
        results = zip(ranking.docnos, ranking.scores, strict=True)
        file.writelines(
            f"{ranking.qid} Q0 {docno} {rank} {score!r} {tag}\n" for rank, (docno, score) in enumerate(results, start=1)
        )


@contextmanager
def new_file(path: str | Path) -> Iterator[TextIO]:
    """A text file that appears under its name when it is complete, and not at all if anything fails."""
    path = Path(path)
    if not path.name or path.is_dir():
        raise WriteFailed(f"{path}: cannot be written (a folder, expected a file)")
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as file:  # a pipe or a device is not replaced
            yield file
        return
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        try:
            with aside.open("w", encoding="utf-8", newline="\n") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        except OSError as error:
            raise WriteFailed(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        aside.unlink(missing_ok=True)
