"""Merging of shards by their columns: sorted lists become one sorted list, and no text is analysed again.

Documents are put in docno order, their terms, words, n-grams and fields are numbered again, and stored
documents are copied as they are. What only deleted documents had is left out, so the content equals that of the live
documents indexed together. Words are the exception that costs: a shard does not know which documents a word came from,
so in a shard with deleted documents the live ones are split into words again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from searchlab.analysis.analyzer import AnalysisSettings, make_analyzer
from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.indexing.building.shard_content import ShardContent
from searchlab.indexing.inversion.inversion import take_texts
from searchlab.indexing.inversion.ngram_builder import ngram_columns
from searchlab.indexing.merging.field_merge import merge_fields
from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.storage.columns import NGRAMS, STOP_WORD
from searchlab.indexing.storage.documents.document_packing import PackedDocuments
from searchlab.indexing.storage.shard import Shard
from searchlab.types import Array


def merge_columns(shards: Sequence[Shard], settings: AnalysisSettings) -> ShardContent:
    """The content of one shard with the live documents of several."""
    try:
        return _merge(shards, settings)
    except (LookupError, ValueError, OverflowError) as error:
        names = ", ".join(shard.folder.name for shard in shards)
        raise IndexCorrupt(
            f"{shards[0].folder.parent}: {names}: columns that do not fit ({error}); {REBUILD}"
        ) from None


def _merge(shards: Sequence[Shard], settings: AnalysisSettings) -> ShardContent:
    live = [shard.live_docs for shard in shards]
    docnos = [docno for shard, docs in zip(shards, live, strict=True) for docno in shard.columns.docnos.take(docs)]
    order = np.array(sorted(range(len(docnos)), key=docnos.__getitem__), np.int64)
    # For each shard the new number of each document, -1 for a deleted one.
    ranks = np.empty(len(docnos), np.int64)
    ranks[order] = np.arange(len(docnos))
    new_docs, first = [], 0
    for shard, docs in zip(shards, live, strict=True):
        numbers = np.full(shard.columns.n_docs, -1)
        numbers[docs] = ranks[first : first + len(docs)]
        new_docs.append(numbers)
        first += len(docs)

    texts = _merge_tokens(shards, live, order, "both")
    words, n_words = _merge_words(shards, live, texts.terms, settings)
    ngrams = {}
    if all(shard.columns.ngrams is not None for shard in shards):
        grams = _merge_tokens(shards, live, order, NGRAMS)
        whole = take_texts(grams.tokens, grams.begins, grams.lengths)
        ngrams = ngram_columns(PackedStrings.pack(grams.terms), whole, grams.title_lengths)
    return ShardContent(
        PackedStrings.pack(docnos[number] for number in order.tolist()),
        PackedStrings.pack(texts.terms),
        take_texts(texts.tokens, texts.begins, texts.title_lengths),
        take_texts(texts.tokens, texts.begins + texts.title_lengths, texts.lengths - texts.title_lengths),
        words,
        merge_fields([shard.columns.fields for shard in shards], new_docs),
        ngrams,
        np.concatenate([shard.columns.digests[docs] for shard, docs in zip(shards, live, strict=True)])[order],
        _copy_documents(shards, live, order),
        n_words,
    )


class _MergedTokens(NamedTuple):
    """Terms in byte order; tokens numbered by them; where each document's begin, and how many there are."""

    terms: list[str]
    tokens: Array
    begins: Array
    lengths: Array
    title_lengths: Array


def _merge_tokens(shards: Sequence[Shard], live: Sequence[Array], order: Array, stream: str) -> _MergedTokens:
    """The tokens of a stream; documents are in their new order, their tokens are still those of the shards."""
    of_shards = [shard.columns.document_tokens(stream) for shard in shards]
    known, begins, lengths, title_lengths = [], [], [], []
    n_tokens = 0
    for shard, tokens, docs in zip(shards, of_shards, live, strict=True):
        offsets = tokens.offsets.whole
        of_docs, of_titles = np.diff(offsets)[docs], tokens.title_lengths.whole[docs].astype(np.int64)
        if ((of_titles < 0) | (of_titles > of_docs)).any():
            raise ValueError("lengths of texts")
        begins.append(offsets[docs] + n_tokens)
        lengths.append(of_docs)
        title_lengths.append(of_titles)
        n_tokens += len(tokens.tokens)
        used = np.arange(len(tokens.terms))
        if shard.live is not None:
            counts = np.bincount(take_texts(tokens.tokens.whole, offsets[docs], of_docs).tokens, minlength=len(used))
            used = np.flatnonzero(counts)
        known.append(dict(zip(tokens.terms.take(used), used.tolist(), strict=True)))
    terms = sorted(set().union(*known))
    numbers = {term: number for number, term in enumerate(terms)}
    renumbered = []
    for tokens, own in zip(of_shards, known, strict=True):
        ranks = np.full(len(tokens.terms), -1, np.int32)
        ranks[list(own.values())] = [numbers[term] for term in own]
        renumbered.append(ranks[tokens.tokens.whole])
    return _MergedTokens(
        terms,
        np.concatenate(renumbered),
        *(np.concatenate(parts)[order] for parts in (begins, lengths, title_lengths)),
    )


def _merge_words(
    shards: Sequence[Shard], live: Sequence[Array], terms: list[str], settings: AnalysisSettings
) -> tuple[dict[str, dict[str, int]], int]:
    """For each language the words of the live documents with the ranks of their terms; and how many words there are."""
    words: dict[str, dict[str, str | None]] = {}
    n_words = 0
    for shard, docs in zip(shards, live, strict=True):
        of_shard = shard.columns.words_by_language(settings.language)
        if shard.live is None:
            for language, known in of_shard.items():
                words.setdefault(language, {}).update(known)
            n_words += shard.record.n_words
            continue
        of_documents = make_analyzer(settings)
        for document in map(shard.document, docs.tolist()):
            analyzer = of_documents.for_document(document)
            language = analyzer.settings.language
            own, known = words.setdefault(language, {}), of_shard[language]
            for text in (document.title, document.body):
                found = analyzer.split(text)
                n_words += len(found)
                own.update((word, known[word]) for word in set(found).difference(own))
    ranks: dict[str | None, int] = {term: number for number, term in enumerate(terms)}
    ranks[None] = STOP_WORD
    return {name: {word: ranks[term] for word, term in own.items()} for name, own in words.items()}, n_words


def _copy_documents(shards: Sequence[Shard], live: Sequence[Array], order: Array) -> dict[str, Array]:
    """The arrays of the stored documents, copied without being read."""
    pieces = [piece for shard, docs in zip(shards, live, strict=True) for piece in shard.stored.packed(docs)]
    return PackedDocuments(map(pieces.__getitem__, order.tolist())).arrays()
