"""The stream of character n-grams of a shard: collects the n-grams of documents, and makes their columns."""

from __future__ import annotations

from array import array

import numpy as np

from searchlab.analysis.tokenizer import split_ngrams
from searchlab.indexing.inversion.inversion import TokenStream, combine_streams, invert
from searchlab.indexing.inversion.stream_columns import stream_columns, token_columns
from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.storage.columns import NGRAMS
from searchlab.records import Document
from searchlab.types import Array


class _Numbers(dict[str, int]):
    """The number of each n-gram, in the order in which they were first seen."""

    def __missing__(self, ngram: str) -> int:
        number = self[ngram] = len(self)
        return number


class NgramBuilder:
    """Collects the n-grams of documents as numbers, those of the title before those of the body."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._numbers = _Numbers()
        self._tokens = array("i")
        self._ends = array("q", [0])
        self._title_lengths = array("q")

    @property
    def n_tokens(self) -> int:
        """The number of n-grams collected."""
        return len(self._tokens)

    def add(self, document: Document) -> None:
        """Split the title and the body of a document."""
        self._tokens.extend(map(self._numbers.__getitem__, split_ngrams(document.title, self._n)))
        self._title_lengths.append(len(self._tokens) - self._ends[-1])
        self._tokens.extend(map(self._numbers.__getitem__, split_ngrams(document.body, self._n)))
        self._ends.append(len(self._tokens))

    def columns(self, order: Array) -> dict[str, Array]:
        """The columns of the stream; the n-th document is the `order[n]`-th that was added."""
        ngrams = sorted(self._numbers)
        ranks = np.empty(len(ngrams), np.int32)
        ranks[[self._numbers[ngram] for ngram in ngrams]] = np.arange(len(ngrams))
        tokens = np.frombuffer(self._tokens, np.int32) if self._tokens else np.zeros(0, np.int32)
        stream = combine_streams([TokenStream(ranks[tokens], np.frombuffer(self._ends, np.int64))], order)
        return ngram_columns(PackedStrings.pack(ngrams), stream, np.frombuffer(self._title_lengths, np.int64)[order])


def ngram_columns(ngrams: PackedStrings, stream: TokenStream, title_lengths: Array) -> dict[str, Array]:
    """The columns of the n-grams of documents that are in their final order."""
    n_ngrams = len(ngrams.offsets) - 1
    columns = ngrams.columns(f"{NGRAMS}.terms") | token_columns(f"{NGRAMS}.tokens", stream, n_ngrams)
    columns |= stream_columns(NGRAMS, invert(stream, n_ngrams), stream.lengths)
    return columns | {f"{NGRAMS}.title_lengths": title_lengths.astype(np.int32)}
