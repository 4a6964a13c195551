"""Columns of a shard: the numbers for scoring, as arrays in one memory-mapped file (see `array_file`).

A shard's documents are numbered 0 … n-1 in the order of their docnos, its terms in the order of their bytes; both are
the order of UTF-8.

    docnos, terms            sorted strings (see `Strings`)
    words, words.terms       every word seen, and the number of its term (-1: a stop word)
    languages                only in an index of several languages: their names, sorted strings
    words.languages          the same: the number of the language of each word, which is there once for each language
    S.offsets                the number of postings before those of each term, for a stream S
    S.packed                 the postings: document numbers, ascending, and term frequencies (see `bit_packing`), and
                             where those of each term begin: `.starts`
    S.counts, S.max_tfs      for each term: its occurrences in S, its largest frequency, in the type of frequencies
    S.lengths, S.uniques     for each document: its tokens in S, its distinct terms in S
    tokens, tokens.offsets   the terms of each document in their order, those of the title first (see `narrow_column`)
    positions.*              the positions of frequent terms among the tokens (see `term_positions`); older indexes
                             do not have them
    digests                  for each document sixteen bytes that change with its content (see `digest`)
    field.*                  the other fields of the documents (see `field_columns`)

The streams are title, body, and both (the two texts as one). An index with character n-grams has one stream more,
ngrams, with the n-grams of title and body, and:

    ngrams.terms             the n-grams, sorted strings; the terms of this stream
    ngrams.tokens            the n-grams of each document in their order, those of the title first, and where each
                             document begins: `.offsets`
    ngrams.title_lengths     for each document the number of n-grams of its title
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from searchlab.analysis.tokenizer import fold_text
from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.indexing.storage.arrays.array_file import ArrayFile
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.narrow_column import NarrowColumn
from searchlab.indexing.storage.arrays.packed_columns import open_postings
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.documents.digest import DIGEST_BYTES
from searchlab.indexing.storage.field_columns import FieldColumns
from searchlab.indexing.storage.streams import PassageRanges, Passages, Stream, Text
from searchlab.indexing.storage.term_positions import TermPositions
from searchlab.types import Array

# The streams of words, which every index has.
STREAMS = ("title", "body", "both")
# The stream of character n-grams.
NGRAMS = "ngrams"
# What a stop word has instead of the number of a term.
STOP_WORD = -1
# The columns of a stream that are in the file as they are.
STREAM_COLUMNS = tuple(name for name in Stream.__dataclass_fields__ if name not in ("docs", "tfs"))


class ColumnType(NamedTuple):
    """The types of numbers that a column may have, in NumPy's notation, and its number of dimensions."""

    types: tuple[str, ...]
    n_dimensions: int = 1


_BYTES, _DOCS, _OFFSETS, _COUNTS = (
    ColumnType(("|u1",)),
    ColumnType(("<u4",)),
    ColumnType(("<i8",)),
    ColumnType(("<i4",)),
)
# By the whole name of a column, or by what follows its last dot.
COLUMN_TYPES = {
    **dict.fromkeys(("docnos", "terms", "words", "names", "values", "languages"), _BYTES),
    **dict.fromkeys(("packed", "tokens", "positions"), _BYTES),
    **dict.fromkeys(
        ("docs", "field.tokens", "positions.terms", "entry_docs", "value_docs", "number_docs", "date_docs"), _DOCS
    ),
    **dict.fromkeys(("offsets", "starts", "postings", "entries", "counts"), _OFFSETS),
    **dict.fromkeys(("token_offsets", "value_offsets", "number_offsets", "date_offsets"), _OFFSETS),
    **dict.fromkeys(
        ("words.terms", "words.languages", "lengths", "title_lengths", "uniques", "entry_lengths"), _COUNTS
    ),
    **dict.fromkeys(("numbers", "dates"), ColumnType(("<f8",))),
    **dict.fromkeys(("tfs", "max_tfs"), ColumnType(("<u2", "<u4"))),
    "digests": ColumnType(("|u1",), 2),
}


@dataclass(frozen=True, eq=False)
class DocumentTokens:
    """The terms of each document in their order: document i has tokens[offsets[i]:offsets[i + 1]], its title first."""

    terms: Strings
    tokens: Column
    offsets: Column
    title_lengths: Column

    def fits(self, n_docs: int) -> bool:
        """Whether the lengths of the columns agree."""
        return (
            len(self.offsets) == n_docs + 1
            and self.offsets[-1] == len(self.tokens)
            and len(self.title_lengths) == n_docs
        )

    def bounds(self, docs: Array) -> tuple[Array, Array, Array]:
        """Where the title, then the body of each of some documents begins, and where that ends."""
        starts: Array = self.offsets[docs]
        return starts, starts + self.title_lengths[docs], self.offsets[docs + 1]

    def ranges(self, docs: Array, stream: str) -> tuple[Array, Array]:
        """Where the text of some documents in a stream begins and ends."""
        starts, middles, ends = self.bounds(docs)
        return {"title": (starts, middles), "body": (middles, ends)}.get(stream, (starts, ends))

    def body(self, doc: int) -> Array:
        """The terms of a document's body."""
        start, end = self.offsets[doc : doc + 2].tolist()
        start += int(self.title_lengths[doc])
        if not 0 <= start <= end <= len(self.tokens):
            raise self.offsets.damaged(f"document {doc} has wrong offsets")
        terms: Array = self.tokens[start:end]
        return terms

    def passages(self) -> dict[str, Passages]:
        """Title, body and both; title and body are separate passages: no phrase begins in one and ends in the other."""

        def titles(docs: Array) -> PassageRanges:
            starts, middles, _ = self._bounds(docs)
            return PassageRanges(docs, starts, middles)

        def bodies(docs: Array) -> PassageRanges:
            _, middles, ends = self._bounds(docs)
            return PassageRanges(docs, middles, ends)

        def titles_and_bodies(docs: Array) -> PassageRanges:
            starts, middles, ends = self._bounds(docs)
            pairs = np.column_stack([starts, middles]).ravel(), np.column_stack([middles, ends]).ravel()
            return PassageRanges(np.repeat(docs, 2), *pairs)

        selections = {"title": titles, "body": bodies, "both": titles_and_bodies}
        return {name: Passages(self.tokens, select) for name, select in selections.items()}

    def _bounds(self, docs: Array) -> tuple[Array, Array, Array]:
        """Where the title of each document begins and ends, and where its body ends; the documents are ascending."""
        if not len(docs):
            return self.offsets[:0], self.offsets[:0], self.offsets[:0]
        first, last = int(docs[0]), int(docs[-1])
        rows = docs - first
        offsets = self.offsets[first : last + 2]
        starts = offsets[rows]
        return starts, starts + self.title_lengths[first : last + 1][rows], offsets[rows + 1]


@dataclass(frozen=True, eq=False)
class WordTable:
    """Words in byte order, to be searched; `numbers` are those of the words that they come from, None if the same."""

    strings: Strings
    numbers: Array | None = None

    def numbers_of(self, rows: Array) -> Array:
        """The numbers of the words in these rows."""
        return rows if self.numbers is None else self.numbers[rows]

    @classmethod
    def without_accents(cls, words: Strings, numbers: Array) -> WordTable:
        """The words with these numbers without accents, so that they are found however they are written."""
        rows = sorted((fold_text(word), number) for word, number in zip(words.take(numbers), numbers, strict=True))
        return cls(Strings.of(word for word, _ in rows), np.array([number for _, number in rows], np.int64))


@dataclass(frozen=True, eq=False)
class ShardColumns:
    """All columns of one shard.

    `ngrams` is None if the index has no n-grams, `languages` if it has one language, `positions` if it is an older one.
    """

    docnos: Strings
    terms: Strings
    words: Strings
    word_terms: Column
    languages: Strings | None
    word_languages: Column | None
    streams: Mapping[str, Stream]
    tokens: Column
    token_offsets: Column
    positions: TermPositions | None
    digests: Column
    fields: FieldColumns
    ngrams: DocumentTokens | None
    file: ArrayFile

    @property
    def n_docs(self) -> int:
        """The number of documents of the shard, deleted ones included."""
        return len(self.docnos)

    def term_of(self, word: str) -> str | None:
        """The term of a word, None for a stop word; raises KeyError for a word that the shard does not have."""
        word_number = self.words.find(word)
        if word_number < 0:
            raise KeyError(word)
        number = int(self.word_terms[word_number])
        return None if number < 0 else str(self.terms[number])

    def term_in_language(self, word: str, language: str) -> str | None:
        """The same as `term_of`, for the word of one of several languages."""
        if self.languages is None or self.word_languages is None or (wanted := self.languages.find(language)) < 0:
            raise KeyError(word)
        first, after = self.words.first_from(word), self.words.first_after(word)
        for row in range(first, after):
            if self.word_languages[row] == wanted:
                number = int(self.word_terms[row])
                return None if number < 0 else str(self.terms[number])
        raise KeyError(word)

    def language_of_word(self, number: int) -> str | None:
        """The language of the word with this number, None in an index of one language."""
        if self.languages is None or self.word_languages is None:
            return None
        return str(self.languages[int(self.word_languages[number])])

    def words_of(self, term: int) -> list[str]:
        """The words that have the term with this number."""
        order, numbers = self._by_term
        first, after = np.searchsorted(numbers, [term, term + 1])
        return self.words.take(order[first:after])

    def words_without_accents(self, language: str | None) -> WordTable:
        """The words, of one language or all, to compare with what a user writes, in an index of words with accents."""
        numbers = np.arange(len(self.words))
        if language is not None and self.languages is not None and self.word_languages is not None:
            numbers = np.flatnonzero(self.word_languages.whole == self.languages.find(language))
        return WordTable.without_accents(self.words, numbers)

    @cached_property
    def _by_term(self) -> tuple[Array, Array]:
        """The numbers of the words in the order of their terms, and the numbers of these terms."""
        numbers = self.word_terms.whole
        order = np.argsort(numbers, kind="stable")
        return order, numbers[order]

    def all_words(self) -> dict[str, str | None]:
        """The term of every word, None for stop words."""
        terms = [*self.terms.take(np.arange(len(self.terms))), None]  # -1, the number of stop words, is the last
        numbers = self.word_terms.whole.tolist()
        words = self.words.take(np.arange(len(self.words)))
        return {word: terms[number] for word, number in zip(words, numbers, strict=True)}

    def words_by_language(self, language: str) -> dict[str, dict[str, str | None]]:
        """For each language the term of every word, None for stop words; `language` is that of an index with one."""
        if self.languages is None or self.word_languages is None:
            return {language: self.all_words()}
        terms = [*self.terms.take(np.arange(len(self.terms))), None]
        names = list(self.languages)
        found: dict[str, dict[str, str | None]] = {name: {} for name in names}
        words = self.words.take(np.arange(len(self.words)))
        for word, place, number in zip(words, self.word_languages.tolist(), self.word_terms.tolist(), strict=True):
            found[names[place]][word] = terms[number]
        return found

    def document_tokens(self, stream: str) -> DocumentTokens:
        """The terms of a stream, and those of each document in their order."""
        if stream == NGRAMS and self.ngrams is not None:
            return self.ngrams
        return DocumentTokens(self.terms, self.tokens, self.token_offsets, self.streams["title"].lengths)

    def terms_of(self, stream: str) -> Strings:
        """The terms of a stream."""
        return self.terms if stream != NGRAMS or self.ngrams is None else self.ngrams.terms

    @cached_property
    def _texts(self) -> dict[str, Text]:
        passages = self.document_tokens("both").passages()
        if self.ngrams is not None:
            passages[NGRAMS] = self.ngrams.passages()["both"]
        return {
            name: Text(
                self.terms_of(name),
                "",
                range(len(self.terms_of(name))),
                stream,
                passages[name],
                None if name == NGRAMS else self.positions,
            )
            for name, stream in self.streams.items()
        }

    def text(self, name: str) -> Text | None:
        """A stream, or a field by its name; None if no document of the shard has this field."""
        return self._texts[name] if name in self.streams else self.fields.text(name)


def open_columns(path: Path) -> ShardColumns:
    """Map a shard's columns into memory, and check that their lengths agree."""
    arrays = ArrayFile(path)

    def load(name: str) -> Column:
        if name not in arrays:
            raise IndexCorrupt(f"{path}: lacks {name}; {REBUILD}")
        column = arrays[name]
        kind = COLUMN_TYPES.get(name) or COLUMN_TYPES[name.rpartition(".")[2]]
        if column.dtype.str not in kind.types or len(column.shape) != kind.n_dimensions:
            raise arrays.blocks.damaged(
                f"{name} has numbers of type {column.dtype.str} in {len(column.shape)} dimensions"
            )
        return column

    def load_strings(name: str) -> Strings:
        blob, offsets = load(name), load(f"{name}.offsets")
        if not len(offsets) or offsets[-1] != len(blob):
            raise IndexCorrupt(f"{path}: {name} does not fit its offsets; {REBUILD}")
        return Strings(blob, offsets)

    def load_tokens(name: str, terms: Strings) -> tuple[Column, Column]:
        offsets = load(f"{name}.offsets")
        if not len(offsets):
            raise IndexCorrupt(f"{path}: {name} does not fit its offsets; {REBUILD}")
        return NarrowColumn(load(name), int(offsets[-1]), len(terms)), offsets

    def load_stream(name: str) -> Stream:
        columns = {column: load(f"{name}.{column}") for column in STREAM_COLUMNS}
        offsets, max_tfs = columns["offsets"], columns["max_tfs"]
        if not len(offsets):
            raise IndexCorrupt(f"{path}: the columns of {name} do not fit together; {REBUILD}")
        packed, starts = load(f"{name}.packed"), load(f"{name}.packed.starts")
        docs, tfs = open_postings(packed, starts, offsets, max_tfs.dtype)
        return Stream(docs=docs, tfs=tfs, **columns)

    docnos = load_strings("docnos")
    terms = load_strings("terms")
    n_docs = len(docnos)
    ngrams = None
    if f"{NGRAMS}.terms" in arrays:
        of_ngrams = load_strings(f"{NGRAMS}.terms")
        ngrams = DocumentTokens(of_ngrams, *load_tokens(f"{NGRAMS}.tokens", of_ngrams), load(f"{NGRAMS}.title_lengths"))
    tokens, token_offsets = load_tokens("tokens", terms)
    streams = STREAMS if ngrams is None else (*STREAMS, NGRAMS)
    of_streams = {stream: load_stream(stream) for stream in streams}
    positions = None
    if "positions.terms" in arrays:
        positions = TermPositions(
            terms=load("positions.terms"),
            offsets=load("positions.offsets"),
            units=load("positions"),
            counts=of_streams["both"].counts,
            token_offsets=token_offsets,
        )
        if not positions.fits():
            raise IndexCorrupt(f"{path}: the positions of terms do not fit together; {REBUILD}")
    shard = ShardColumns(
        docnos=docnos,
        terms=terms,
        words=load_strings("words"),
        word_terms=load("words.terms"),
        languages=load_strings("languages") if "languages" in arrays else None,
        word_languages=load("words.languages") if "languages" in arrays else None,
        streams=of_streams,
        tokens=tokens,
        token_offsets=token_offsets,
        positions=positions,
        digests=load("digests"),
        fields=FieldColumns.open(n_docs, load, load_strings),
        ngrams=ngrams,
        file=arrays,
    )
    if (
        not shard.document_tokens("both").fits(n_docs)
        or (ngrams is not None and not ngrams.fits(n_docs))
        or shard.digests.shape != (n_docs, DIGEST_BYTES)
    ):
        raise IndexCorrupt(f"{path}: the columns of the documents do not fit together; {REBUILD}")
    for name, stream in shard.streams.items():
        fits = (
            len(stream.offsets) == len(shard.terms_of(name)) + 1
            and len(stream.counts) == len(stream.max_tfs) == len(shard.terms_of(name))
            and len(stream.lengths) == len(stream.uniques) == shard.n_docs
        )
        if not fits:
            raise IndexCorrupt(f"{path}: the columns of {name} do not fit together; {REBUILD}")
    return shard
