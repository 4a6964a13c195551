"""Comparing indexes of the same documents, whose shards may be others, and what was noted while they were built."""

import io
import json

import searchlab
from searchlab.corpus.reading_notes import ReadingEvent
from searchlab.indexing.statistics import index_statistics


def content(folder) -> dict[str, object]:
    """All that can be asked of an index and does not depend on how its documents are divided into shards."""
    with searchlab.open(folder) as engine:
        statistics = index_statistics(engine.snapshot, top=1000)
        run = io.StringIO()
        texts = ["word1 word2", "word3", "word4 word5 word6 word7", "café heat"]
        searchlab.write_run(run, engine.search_many(dict(enumerate(texts)), k=None), "tag")
        return {
            "documents": {each.docno: each for each in engine.snapshot.documents()},
            "streams": statistics.streams,
            "fields": statistics.fields,
            "frequent": statistics.frequent,
            "run": run.getvalue(),
        }


def assert_same(one, many, *, min_shards=3):
    """Compare the contents of two indexes, their summaries and notes; the second has at least so many shards."""
    assert one[0] == many[0]
    for count in ("n_docs", "n_added", "n_updated", "n_unchanged", "n_removed", "n_duplicates", "n_tokens"):
        assert getattr(one[1], count) == getattr(many[1], count), count
    assert one[2].n_events == many[2].n_events
    for noted in ("n_files", "n_documents", "bytes_read", "bytes_total", "skipped", "latin1_lines", "n_bad", "mapped"):
        assert getattr(one[2], noted) == getattr(many[2], noted), noted
    for kept in ("bad_records", "renamed", "left_out"):
        assert list(map(str, getattr(one[2], kept))) == list(map(str, getattr(many[2], kept)))
    assert many[1].n_shards >= min_shards


def json_lines(documents) -> str:
    """The documents as a file of JSON lines."""
    return "".join(
        json.dumps({"docno": each.docno, "title": each.title, "body": each.body, **each.fields}) + "\n"
        for each in documents
    )


class Listener(list[ReadingEvent]):
    """The events of a reading in a list."""

    def add(self, event: ReadingEvent) -> None:
        self.append(event)
