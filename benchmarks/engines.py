"""Adapters: how each engine indexes a JSONL file and answers a query.

Each is set up as its documentation advises for speed. `index` ends with a closed index on disk; `open` gives a
function from a query's text to ranked documents with scores, in the engine's own form, and one that looks up
their docnos.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

WORD = r"\S+"  # bm25s is given texts of terms


class Opened(NamedTuple):
    """An index that is ready for queries."""

    search: Callable[[str, int], Any]
    docnos: Callable[[Any], list[str]]


@dataclass(frozen=True)
class Engine:
    """An engine; its module is imported when it is used."""

    module: str
    index: Callable[[Path, Path], None]
    open: Callable[[Path], Opened]
    remark: str
    # The same with the engine's own English stemmer and stop words, for texts that are not terms already.
    index_english: Callable[[Path, Path], None] | None = None
    is_slow: bool = False  # asked fewer queries, and once
    distribution: str | None = None  # the name of its package, if that is not the module's


def read(collection: Path) -> Iterator[dict[str, str]]:
    with collection.open() as file:
        yield from map(json.loads, file)


def index_searchlab(collection: Path, folder: Path) -> None:
    import searchlab

    searchlab.index(collection, folder)


def open_searchlab(folder: Path) -> Opened:
    import searchlab

    engine = searchlab.open(folder)
    return Opened(lambda text, k: engine.search(text, k=k), lambda hits: hits.docnos)


def index_bm25s(collection: Path, folder: Path) -> None:
    _index_bm25s(collection, folder, stopwords=None, stemmer=None, token_pattern=WORD)


def index_bm25s_english(collection: Path, folder: Path) -> None:
    from Stemmer import Stemmer

    _index_bm25s(collection, folder, stopwords="en", stemmer=Stemmer("english"))


def _index_bm25s(collection: Path, folder: Path, **analysis: Any) -> None:
    import bm25s

    docnos, texts = [], []
    for document in read(collection):
        docnos.append(document["docno"])
        texts.append(f"{document['title']} {document['body']}")
    tokens = bm25s.tokenize(texts, show_progress=False, **analysis)
    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
    retriever.index(tokens, show_progress=False)
    retriever.save(folder, show_progress=False)
    (folder / "docnos.json").write_text(json.dumps(docnos))


def open_bm25s(folder: Path) -> Opened:
    import bm25s

    retriever = bm25s.BM25.load(folder)
    retriever.activate_numba_scorer()

    def search(text: str, k: int) -> Any:
        words = bm25s.tokenize(
            text, stopwords=None, stemmer=None, token_pattern=WORD, return_ids=False, show_progress=False
        )
        return retriever.retrieve(words, k=k, n_threads=0, show_progress=False)

    @cache
    def names() -> list[str]:
        return json.loads((folder / "docnos.json").read_text())

    return Opened(search, lambda found: [names()[d] for d in found.documents[0].tolist()])


def index_tantivy(collection: Path, folder: Path) -> None:
    _index_tantivy(collection, folder, "default")


def index_tantivy_english(collection: Path, folder: Path) -> None:
    _index_tantivy(collection, folder, "english")


def _index_tantivy(collection: Path, folder: Path, tokenizer: str) -> None:
    import tantivy

    schema = (
        tantivy.SchemaBuilder()
        .add_text_field("docno", stored=True, tokenizer_name="raw")
        .add_text_field("title", stored=True, tokenizer_name=tokenizer)
        .add_text_field("body", stored=True, tokenizer_name=tokenizer)
        .build()
    )
    folder.mkdir()
    index = tantivy.Index(schema, path=str(folder))
    english = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (tantivy.Filter.lowercase(), tantivy.Filter.stopword("english"), tantivy.Filter.stemmer("english")):
        english = english.filter(step)
    index.register_tokenizer("english", english.build())
    writer = index.writer(num_threads=os.cpu_count() or 1)
    for document in read(collection):
        writer.add_document(tantivy.Document(**document))
    writer.commit()
    writer.wait_merging_threads()


def open_tantivy(folder: Path) -> Opened:
    import tantivy

    index = tantivy.Index.open(str(folder))
    searcher = index.searcher()

    def search(text: str, k: int) -> Any:
        # Counting all matches would keep tantivy from skipping those that cannot be among the best.
        query = index.parse_query(text, ["title", "body"])
        return searcher.search(query, limit=k, count=False).hits

    return Opened(search, lambda hits: [searcher.doc(address)["docno"][0] for _, address in hits])


def index_whoosh(collection: Path, folder: Path) -> None:
    from whoosh.analysis import StemmingAnalyzer
    from whoosh.fields import ID, TEXT, Schema
    from whoosh.index import create_in

    text = TEXT(analyzer=StemmingAnalyzer(), stored=True)
    folder.mkdir()
    writer = create_in(folder, Schema(docno=ID(stored=True, unique=True), title=text, body=text)).writer(limitmb=1024)
    for document in read(collection):
        writer.add_document(**document)
    writer.commit()


def open_whoosh(folder: Path) -> Opened:
    from whoosh.index import open_dir
    from whoosh.qparser import MultifieldParser, OrGroup

    index = open_dir(folder)
    searcher = index.searcher()
    parser = MultifieldParser(["title", "body"], index.schema, group=OrGroup)
    return Opened(
        lambda text, k: searcher.search(parser.parse(text), limit=k),
        lambda results: [hit["docno"] for hit in results],
    )


ENGINES = {
    "searchlab": Engine(
        "searchlab", index_searchlab, open_searchlab, "all cores; title and body as one text", index_searchlab
    ),
    "bm25s": Engine(
        "bm25s", index_bm25s, open_bm25s, "method lucene, numba; title and body as one text", index_bm25s_english
    ),
    "tantivy": Engine(
        "tantivy", index_tantivy, open_tantivy, "all cores; title and body as two fields", index_tantivy_english
    ),
    "whoosh": Engine(
        "whoosh",
        index_whoosh,
        open_whoosh,
        "one process; title and body as two fields",
        is_slow=True,
        distribution="whoosh-reloaded",
    ),
}
