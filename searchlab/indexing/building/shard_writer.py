"""Shard writer: collects documents and writes them as one shard.

Documents are analysed as they are added and held as term numbers; `write` then sorts, inverts and writes everything at
once: the columns, and the same postings as a Whoosh index.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from searchlab.analysis.analyzer import Analyzer
from searchlab.analysis.word_rules import STANDARD
from searchlab.corpus.parsing.identifiers import is_column
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import RecordError
from searchlab.indexing.building.field_builder import FieldBuilder
from searchlab.indexing.building.inversion import TokenStream, combine_streams
from searchlab.indexing.building.ngram_builder import NgramBuilder
from searchlab.indexing.building.shard_content import ShardContent
from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.storage.columns import STOP_WORD
from searchlab.indexing.storage.digest import DIGEST_BYTES, digest
from searchlab.indexing.storage.long_body import MAX_WHOLE_LENGTH, cut_body
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.indexing.storage.stored_documents import join_documents, pack_document
from searchlab.records import Document
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.analysis.mixed_analyzer import MixedAnalyzer


class _Vocabulary(dict[str, int]):
    """The number of each word's term, -1 for a stop word; a new word is analysed once and cached.

    `terms` are the numbers of the terms, which several vocabularies may share.
    """

    def __init__(self, analyzer: Analyzer, terms: dict[str, int]) -> None:
        super().__init__()
        self._analyzer = analyzer
        self.split = analyzer.split
        self.terms = terms

    def __missing__(self, word: str) -> int:
        term = self._analyzer.term(word)
        number = STOP_WORD if term is None else self.terms.setdefault(term, len(self.terms))
        self[word] = number
        return number

    def ranked(self, ranks: Array) -> dict[str, int]:
        """The words with the ranks of their terms."""
        by_number = [*ranks.tolist(), STOP_WORD]
        return {word: by_number[number] for word, number in self.items()}


class _Tokens:
    """The words of one field over all documents, as numbers."""

    def __init__(self) -> None:
        self.numbers = array("i")
        self.ends = array("q", [0])

    def add(self, text: str, vocabulary: _Vocabulary) -> None:
        self.numbers.extend(map(vocabulary.__getitem__, vocabulary.split(text)))
        self.ends.append(len(self.numbers))

    def add_blocks(self, blocks: Sequence[str], vocabulary: _Vocabulary) -> list[int]:
        """Add a text block by block, which takes less memory; returns the number of terms of each block."""
        n_terms = []
        for block in blocks:
            numbers = [*map(vocabulary.__getitem__, vocabulary.split(block))]
            self.numbers.extend(numbers)
            n_terms.append(len(numbers) - numbers.count(STOP_WORD))
        self.ends.append(len(self.numbers))
        return n_terms

    def as_stream(self, ranks: Array) -> TokenStream:
        """The terms without stop words, renumbered by `ranks`."""
        numbers = np.frombuffer(self.numbers, np.int32) if self.numbers else np.zeros(0, np.int32)
        is_term = numbers >= 0
        n_terms_before = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(is_term, out=n_terms_before[1:])
        return TokenStream(ranks[numbers[is_term]], n_terms_before[np.frombuffer(self.ends, np.int64)])


class ShardWriter:
    """Collects the documents of one shard and writes it."""

    def __init__(self, analyzer: Analyzer | MixedAnalyzer) -> None:
        self._analyzer = analyzer
        self._terms: dict[str, int] = {}
        # By language: a word may have another term in another language.
        self._vocabularies: dict[str, _Vocabulary] = {}
        self._docnos: list[str] = []
        self._packed: list[bytes] = []
        self._title = _Tokens()
        self._body = _Tokens()
        self._ngrams = NgramBuilder(analyzer.settings.ngrams) if analyzer.settings.ngrams else None
        self._fields = FieldBuilder()
        self._digests = bytearray()

    def __len__(self) -> int:
        return len(self._docnos)

    @property
    def n_words(self) -> int:
        """The number of words collected."""
        return len(self._title.numbers) + len(self._body.numbers)

    @property
    def n_tokens(self) -> int:
        """The number of words and n-grams collected; the memory that `write` needs grows with it."""
        return self.n_words + (0 if self._ngrams is None else self._ngrams.n_tokens)

    def add(self, document: Document) -> None:
        """Analyse one document."""
        if not is_column(document.docno):
            expected = "a word without blanks and control characters"
            raise RecordError(document.location, f"docno is {excerpt(document.docno)}, expected {expected}")
        analyzer = self._analyzer.for_document(document)
        vocabulary = self._vocabularies.get(analyzer.settings.language)
        if vocabulary is None:
            vocabulary = _Vocabulary(analyzer, self._terms)
            self._vocabularies[analyzer.settings.language] = vocabulary
        self._title.add(document.title, vocabulary)
        n_terms: list[int] = []
        # The words of an analyzer of a user's own may depend on the whole text.
        if len(document.body) > MAX_WHOLE_LENGTH and analyzer.settings.analyzer == STANDARD:
            n_terms = self._body.add_blocks(cut_body(document.body), vocabulary)
        else:
            self._body.add(document.body, vocabulary)
        if self._ngrams is not None:
            self._ngrams.add(document)
        self._fields.add(len(self._docnos), document.fields, analyzer)
        self._digests += digest(document)
        self._docnos.append(document.docno)
        self._packed.append(pack_document(document, n_terms))

    def write(self, folder: Path) -> ShardRecord:
        """Write the shard into a new folder; no document can be added afterwards."""
        order = np.array(sorted(range(len(self)), key=self._docnos.__getitem__), np.int64)
        terms = sorted(self._terms)
        ranks = np.empty(len(terms), np.int32)
        ranks[[self._terms[term] for term in terms]] = np.arange(len(terms))
        title, body = (combine_streams([text.as_stream(ranks)], order) for text in (self._title, self._body))
        content = ShardContent(
            PackedStrings.pack(map(self._docnos.__getitem__, order.tolist())),
            PackedStrings.pack(terms),
            title,
            body,
            {name: vocabulary.ranked(ranks) for name, vocabulary in self._vocabularies.items()},
            self._fields.columns(np.argsort(order)),
            {} if self._ngrams is None else self._ngrams.columns(order),
            np.frombuffer(self._digests, np.uint8).reshape(-1, DIGEST_BYTES)[order],
            join_documents(map(self._packed.__getitem__, order.tolist())),
            self.n_words,
        )
        return content.write(folder, self._analyzer.settings)
