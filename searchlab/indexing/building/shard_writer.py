"""Shard writer: collects documents and writes them as one shard.

Documents are analysed as they are added and held as term numbers; `write` then sorts, inverts and writes everything at
once: the columns, and the same postings as a Whoosh index.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from searchlab.analysis.analyzer import Analyzer
from searchlab.analysis.word_rules import STANDARD
from searchlab.array_ranges import offsets_of
from searchlab.corpus.parsing.identifiers import is_column
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import RecordError
from searchlab.indexing.building.shard_content import ShardContent
from searchlab.indexing.inversion.field_builder import FieldBuilder
from searchlab.indexing.inversion.inversion import TokenStream, combine_streams, take_texts
from searchlab.indexing.inversion.ngram_builder import NgramBuilder
from searchlab.indexing.inversion.shard_vocabulary import ShardVocabulary
from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.storage.columns import STOP_WORD
from searchlab.indexing.storage.documents.digest import DIGEST_BYTES, digest
from searchlab.indexing.storage.documents.document_packing import PackedDocuments, pack_document
from searchlab.indexing.storage.documents.long_body import MAX_WHOLE_LENGTH, cut_body
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.records import Document
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.analysis.mixed_analyzer import MixedAnalyzer


# Characters that are split into words at once.
MAX_PENDING_CHARACTERS = 1 << 18


class _Tokens:
    """The terms of one field over all documents, as numbers, without stop words."""

    def __init__(self) -> None:
        self.n_words = 0
        self._numbers = array("i")
        self._ends = array("q", [0])

    def add(self, numbers: Array, lengths: Array) -> None:
        """Add texts: the terms of their words, one text after the other, and the number of words of each."""
        is_term = numbers != STOP_WORD
        ends = len(self._numbers) + offsets_of(is_term)[np.cumsum(lengths)]
        self._ends.frombytes(ends.astype(np.int64).tobytes())
        self._numbers.frombytes(numbers[is_term].astype(np.int32).tobytes())
        self.n_words += len(numbers)

    def take_stream(self, ranks: Array) -> TokenStream:
        """The terms renumbered by `ranks`; they are no longer kept here."""
        numbers = np.frombuffer(self._numbers, np.int32) if self._numbers else np.zeros(0, np.int32)
        stream = TokenStream(ranks[numbers], np.frombuffer(self._ends, np.int64))
        del numbers
        self._numbers = array("i")
        return stream


class ShardWriter:
    """Collects the documents of one shard and writes it."""

    def __init__(self, analyzer: Analyzer | MixedAnalyzer) -> None:
        self._analyzer = analyzer
        self._terms: dict[str, int] = {}
        # By language: a word may have another term in another language.
        self._vocabularies: dict[str, ShardVocabulary] = {}
        # Titles and bodies of the last documents in turn, all in one language, which are not split into words yet.
        self._pending: list[str] = []
        self._pending_vocabulary: ShardVocabulary | None = None
        self._n_pending_characters = 0
        self._docnos: list[str] = []
        self._packed = PackedDocuments()
        self._title = _Tokens()
        self._body = _Tokens()
        self._ngrams = NgramBuilder(analyzer.settings.ngrams) if analyzer.settings.ngrams else None
        self._fields = FieldBuilder()
        self._digests = bytearray()

    def __len__(self) -> int:
        return len(self._docnos)

    @property
    def _n_words(self) -> int:
        """The number of words of the documents that are split."""
        return self._title.n_words + self._body.n_words

    def has_tokens(self, n: int) -> bool:
        """Whether there are at least n words and n-grams; the memory that `write` needs grows with them."""
        n -= 0 if self._ngrams is None else self._ngrams.n_tokens
        # A word has at least one character: most often nothing has to be split to know.
        if self._n_words + self._n_pending_characters >= n:
            self._split_pending()
        return self._n_words >= n

    def add(self, document: Document, known_digest: bytes | None = None) -> None:
        """Analyse one document, whose digest may be known."""
        if not is_column(document.docno):
            expected = "a word without blanks and control characters"
            raise RecordError(document.location, f"docno is {excerpt(document.docno)}, expected {expected}")
        analyzer = self._analyzer.for_document(document)
        vocabulary = self._vocabularies.get(analyzer.settings.language)
        if vocabulary is None:
            vocabulary = ShardVocabulary(analyzer, self._terms)
            self._vocabularies[analyzer.settings.language] = vocabulary
        n_terms: list[int] = []
        # The words of an analyzer of a user's own may depend on the whole text.
        if len(document.body) > MAX_WHOLE_LENGTH and analyzer.settings.analyzer == STANDARD:
            n_terms = self._add_long(document, vocabulary)
        else:
            if vocabulary is not self._pending_vocabulary or self._n_pending_characters >= MAX_PENDING_CHARACTERS:
                self._split_pending()
                self._pending_vocabulary = vocabulary
            self._pending += (document.title, document.body)
            self._n_pending_characters += len(document.title) + len(document.body)
        if self._ngrams is not None:
            self._ngrams.add(document)
        if document.fields:
            self._fields.add(len(self._docnos), document.fields, analyzer)
        self._digests += known_digest or digest(document)
        self._docnos.append(document.docno)
        self._packed.append(pack_document(document, n_terms))

    def _split_pending(self) -> None:
        """Split the last documents into words."""
        if self._pending_vocabulary is None or not self._pending:
            return
        numbers, lengths = self._pending_vocabulary.number_texts(self._pending)
        in_title = np.repeat(np.arange(len(lengths)) % 2 == 0, lengths)
        self._title.add(numbers[in_title], lengths[::2])
        self._body.add(numbers[~in_title], lengths[1::2])
        self._pending, self._n_pending_characters = [], 0

    def _add_long(self, document: Document, vocabulary: ShardVocabulary) -> list[int]:
        """Add a document whose body is split block by block; returns the number of terms of each block."""
        self._split_pending()
        self._title.add(*vocabulary.number_texts([document.title]))
        numbers, lengths = vocabulary.number_texts(cut_body(document.body))
        self._body.add(numbers, np.array([len(numbers)]))
        bounds = offsets_of(lengths)
        n_terms: list[int] = np.diff(offsets_of(numbers != STOP_WORD)[bounds]).tolist()
        return n_terms

    def write(self, folder: Path) -> ShardRecord:
        """Write the shard into a new folder; no document can be added afterwards."""
        self._split_pending()
        order = np.array(sorted(range(len(self)), key=self._docnos.__getitem__), np.int64)
        terms = sorted(self._terms)
        ranks = np.empty(len(terms), np.int32)
        ranks[[self._terms[term] for term in terms]] = np.arange(len(terms))
        title, body = (combine_streams([text.take_stream(ranks)], order) for text in (self._title, self._body))
        content = ShardContent(
            PackedStrings.pack(map(self._docnos.__getitem__, order.tolist())),
            PackedStrings.pack(terms),
            title,
            body,
            {name: vocabulary.ranked(ranks) for name, vocabulary in self._vocabularies.items()},
            self._fields.columns(np.argsort(order)),
            {} if self._ngrams is None else self._ngrams.columns(order),
            np.frombuffer(self._digests, np.uint8).reshape(-1, DIGEST_BYTES)[order],
            _put_in_order(self._packed.arrays(), order),
            self._n_words,
        )
        # What is in the content is not kept twice.
        self._packed = PackedDocuments()
        for collected in (self._docnos, self._terms, self._vocabularies):
            collected.clear()
        return content.write(folder, self._analyzer.settings)


def _put_in_order(documents: dict[str, Array], order: Array) -> dict[str, Array]:
    """The arrays of stored documents, of which the n-th is then `order[n]`."""
    offsets = documents["offsets"]
    texts, starts = take_texts(documents["texts"], offsets[:-1][order], np.diff(offsets)[order])
    return {"texts": texts, "offsets": starts}
