"""Consistency checks of a shard's columns.

Columns hold the same numbers in several forms: postings by term and tokens by document, counts and lengths beside what
they count. First every column is checked by itself: offsets and numbers must be in range and in
order. Then the forms are compared; a finding names the column that disagrees with the others.

Postings are sorted by term, tokens by document. They are compared without sorting, by the sum of a 64-bit hash of every
term in every document, which does not depend on the order: a difference is missed with probability 2⁻⁶⁴.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from searchlab.errors import IndexCorrupt
from searchlab.indexing.inversion.position_columns import position_columns
from searchlab.indexing.storage.arrays.array_file import ArrayFile
from searchlab.indexing.storage.arrays.bit_packing import pack_postings
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.narrow_column import narrow
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.columns import NGRAMS, STREAMS, DocumentTokens, ShardColumns
from searchlab.indexing.storage.field_columns import AFTER_SEPARATOR, GAP, SEPARATOR, FieldColumns
from searchlab.indexing.storage.streams import Stream, count_terms
from searchlab.types import Array

# The number of postings or tokens that are hashed at once.
HASH_BLOCK = 1 << 20

BAD_OFFSETS = "does not ascend from 0"
NOT_AS_WRITTEN = "is not packed as searchlab packs numbers"
UNKNOWN_TERM = "has the number of a term that does not exist"


class ColumnFinding(NamedTuple):
    """A column and what is wrong with it; the two read as a sentence."""

    column: str
    problem: str


def check_columns(columns: ShardColumns) -> list[ColumnFinding]:
    """What is wrong with columns whose lengths agree (see `open_columns`)."""
    for check in (_check_order, _check_counts, _check_tokens, _check_positions):
        if findings := list(check(columns)):
            return findings  # the next check relies on this one
    return []


def _check_order(columns: ShardColumns) -> Iterator[ColumnFinding]:
    """Check that offsets and numbers are in range and in order."""
    fields, n_docs, n_terms = columns.fields, columns.n_docs, len(columns.terms)
    strings = {"docnos": columns.docnos, "terms": columns.terms, "words": columns.words}
    strings |= {"ngrams.terms": columns.ngrams.terms} if columns.ngrams is not None else {}
    strings |= {"field.names": fields.names, "field.terms": fields.terms, "field.values": fields.values}
    if columns.languages is not None and columns.word_languages is not None:
        strings["languages"] = columns.languages
        yield from _check_languages(strings.pop("words"), columns.languages, columns.word_languages)
    for name, texts in strings.items():
        if not _are_sorted(texts):
            yield ColumnFinding(name, "is not distinct strings in the order of their bytes")

    for name, stream in columns.streams.items():
        yield from _check_postings(name, stream, columns.file, n_docs)
    yield from _check_lists("field.postings", fields.postings, "field.docs", fields.docs, n_docs)
    yield from _check_tfs("field.tfs", fields.tfs)
    yield from _check_lists("field.entries", fields.entries, "field.entry_docs", fields.entry_docs, n_docs)
    yield from _check_lists("field.value_offsets", fields.value_offsets, "field.value_docs", fields.value_docs, n_docs)
    for kind in ("number", "date"):
        yield from _check_sorted(kind, fields)

    if not _in_range(columns.word_terms, -1, n_terms):
        yield ColumnFinding("words.terms", UNKNOWN_TERM)
    yield from _check_token_order("tokens", columns.document_tokens("both"), columns.file)
    if columns.ngrams is not None:
        yield from _check_token_order("ngrams.tokens", columns.ngrams, columns.file)
    if not _are_offsets(fields.token_offsets):
        yield ColumnFinding("field.token_offsets", BAD_OFFSETS)
    field_tokens = fields.tokens.whole
    if not _in_range(field_tokens[field_tokens != GAP], 0, len(fields.terms)):
        yield ColumnFinding("field.tokens", UNKNOWN_TERM)


def _check_languages(words: Strings, languages: Strings, word_languages: Column) -> Iterator[ColumnFinding]:
    """Check that each word has a language, and is there once for it."""
    if len(word_languages) != len(words) or not _in_range(word_languages, 0, len(languages)):
        yield ColumnFinding("words.languages", "is not a number of a language for each word")
        return
    try:
        _ = words.arrays
        rows = list(zip(words.take(np.arange(len(words))), word_languages.whole.tolist(), strict=True))
    except (IndexCorrupt, UnicodeDecodeError):
        rows = [("", 0), ("", 0)]
    if any(row >= after for row, after in pairwise(rows)):
        yield ColumnFinding("words", "is not distinct words of languages in the order of their bytes")


def _check_postings(name: str, stream: Stream, file: ArrayFile, n_docs: int) -> Iterator[ColumnFinding]:
    """Check the postings of a stream, and that they are packed as they would be written."""
    packed, starts = file[f"{name}.packed"], file[f"{name}.packed.starts"]
    for column, offsets in ((f"{name}.offsets", stream.offsets), (f"{name}.packed.starts", starts)):
        if not _are_offsets(offsets):
            yield ColumnFinding(column, BAD_OFFSETS)
            return
    docs, tfs = stream.docs.whole, stream.tfs.whole
    if not _in_range(docs, 0, n_docs) or not _ascend(docs, stream.offsets.whole, strictly=True):
        yield ColumnFinding(f"{name}.packed", "has documents that do not exist or do not ascend")
    elif not _in_range(tfs, 1, np.iinfo(np.int64).max):
        yield ColumnFinding(f"{name}.packed", "has a frequency below 1")
    elif not np.array_equal(pack_postings(stream.offsets.whole, docs, tfs).blob, packed):
        yield ColumnFinding(f"{name}.packed", NOT_AS_WRITTEN)


def _check_token_order(name: str, tokens: DocumentTokens, file: ArrayFile) -> Iterator[ColumnFinding]:
    if not _are_offsets(tokens.offsets):
        yield ColumnFinding(f"{name}.offsets", BAD_OFFSETS)
    numbers = tokens.tokens.whole
    if not _in_range(numbers, 0, len(tokens.terms)):
        yield ColumnFinding(name, UNKNOWN_TERM)
    elif not np.array_equal(narrow(numbers, len(tokens.terms)), file[name]):
        yield ColumnFinding(name, NOT_AS_WRITTEN)


def _check_lists(
    offsets_name: str, offsets: Column, docs_name: str, docs: Column, n_docs: int
) -> Iterator[ColumnFinding]:
    """Check that each list, which begins at its offset, has numbers of documents in ascending order."""
    if not _are_offsets(offsets):
        yield ColumnFinding(offsets_name, BAD_OFFSETS)
    elif not _in_range(docs, 0, n_docs) or not _ascend(docs.whole, offsets.whole, strictly=True):
        yield ColumnFinding(docs_name, "is not numbers of documents in ascending order")


def _check_tfs(name: str, tfs: Column) -> Iterator[ColumnFinding]:
    if not _in_range(tfs, 1, np.iinfo(np.int64).max):
        yield ColumnFinding(name, "has a frequency below 1")


def _check_sorted(kind: str, fields: FieldColumns) -> Iterator[ColumnFinding]:
    """Check that the numbers, or the dates, of each field ascend."""
    items, docs, offsets = (getattr(fields, f"{kind}{part}") for part in ("s", "_docs", "_offsets"))
    if not _are_offsets(offsets):
        yield ColumnFinding(f"field.{kind}_offsets", BAD_OFFSETS)
    elif not np.isfinite(items).all() or not _ascend(items.whole, offsets.whole, strictly=False):
        yield ColumnFinding(f"field.{kind}s", f"is not {kind}s in ascending order")
    if not _in_range(docs, 0, fields.n_docs):
        yield ColumnFinding(f"field.{kind}_docs", "has the number of a document that does not exist")


def _are_sorted(strings: Strings) -> bool:
    try:
        _ = strings.arrays
        texts = strings.take(np.arange(len(strings)))
    except (IndexCorrupt, UnicodeDecodeError):
        return False
    # The order of code points is that of UTF-8.
    return all(map(str.__lt__, texts, texts[1:]))


def _are_offsets(offsets: Column) -> bool:
    numbers = offsets.whole
    return bool(numbers[0] == 0 and (numbers[1:] >= numbers[:-1]).all())


def _in_range(numbers: npt.ArrayLike, low: int, after: int) -> bool:
    array = np.asarray(numbers)
    return not len(array) or bool(low <= array.min() and array.max() < after)


def _ascend(items: Array, offsets: Array, *, strictly: bool) -> bool:
    """Whether the items of each list are in ascending order."""
    rises = items[1:] > items[:-1] if strictly else items[1:] >= items[:-1]
    starts = offsets[(offsets > 0) & (offsets < len(items))]
    rises[starts - 1] = True
    return bool(rises.all())


def _check_counts(columns: ShardColumns) -> Iterator[ColumnFinding]:
    for name, stream in columns.streams.items():
        yield from _check_stream(name, stream, columns.n_docs)
    yield from _check_fields(columns.fields)


def _check_stream(name: str, stream: Stream, n_docs: int) -> Iterator[ColumnFinding]:
    """Check counts and lengths against the postings."""
    counts, max_tfs = count_terms(stream.offsets.whole, stream.tfs.whole)
    expected = {
        "counts": counts,
        "max_tfs": max_tfs,
        "lengths": np.bincount(stream.docs, stream.tfs, n_docs),
        "uniques": np.bincount(stream.docs, minlength=n_docs),
    }
    wrong = [column for column, numbers in expected.items() if not np.array_equal(getattr(stream, column), numbers)]
    if len(wrong) == 1:
        yield ColumnFinding(f"{name}.{wrong[0]}", f"is not what the postings of {name} give")
    elif wrong:
        yield ColumnFinding(f"{name}.packed", f"does not agree with {' and '.join(wrong)}")


def _check_tokens(columns: ShardColumns) -> Iterator[ColumnFinding]:
    """Check the postings of each stream against the tokens of the documents."""
    title, body, both = (columns.streams[name].lengths.whole for name in STREAMS)
    if not np.array_equal(title + body, both):
        yield ColumnFinding("both.lengths", "is not the sum of those of title and body")
        return
    if not np.array_equal(np.diff(columns.token_offsets), both):
        yield ColumnFinding("tokens.offsets", "does not agree with both.lengths")
        return
    docs = _list_of_each(columns.token_offsets)
    in_title = np.arange(len(docs)) < np.repeat(columns.token_offsets[:-1] + title, both)
    sums = {
        "title": _sum_hashes(columns.tokens[in_title], docs[in_title]),
        "body": _sum_hashes(columns.tokens[~in_title], docs[~in_title]),
        "both": _sum_hashes(columns.tokens.whole, docs),
    }
    wrong = [name for name, total in sums.items() if _sum_postings(columns.streams[name]) != total]
    if len(wrong) == 1:
        yield ColumnFinding(f"{wrong[0]}.packed", "does not agree with the tokens of the documents")
    elif wrong:
        yield ColumnFinding("tokens", f"does not agree with the postings of {' and '.join(wrong)}")
    if columns.ngrams is not None:
        yield from _check_ngrams(columns.ngrams, columns.streams[NGRAMS])


def _check_positions(columns: ShardColumns) -> Iterator[ColumnFinding]:
    """Check the positions of frequent terms against the tokens of the documents."""
    if columns.positions is None:
        return
    tokens = columns.tokens.whole
    counts = np.bincount(tokens, minlength=len(columns.terms))
    for name, numbers in position_columns(tokens, counts).items():
        if not np.array_equal(numbers, columns.file[name]):
            yield ColumnFinding(name, "does not agree with tokens")


def _check_ngrams(ngrams: DocumentTokens, stream: Stream) -> Iterator[ColumnFinding]:
    """Check the postings of the n-grams against those of the documents."""
    lengths, title_lengths = stream.lengths.whole, ngrams.title_lengths.whole
    if not np.array_equal(np.diff(ngrams.offsets.whole), lengths):
        yield ColumnFinding("ngrams.tokens.offsets", "does not agree with ngrams.lengths")
    elif _sum_hashes(ngrams.tokens.whole, _list_of_each(ngrams.offsets)) != _sum_postings(stream):
        yield ColumnFinding("ngrams.packed", "does not agree with ngrams.tokens")
    elif (title_lengths < 0).any() or (title_lengths > lengths).any():
        yield ColumnFinding("ngrams.title_lengths", "is not between 0 and ngrams.lengths")


def _list_of_each(offsets: npt.ArrayLike) -> Array:
    """For each item of lists with these offsets, the number of its list."""
    numbers = np.asarray(offsets)
    return np.repeat(np.arange(len(numbers) - 1, dtype=np.uint32), np.diff(numbers))


def _sum_postings(stream: Stream | FieldColumns) -> int:
    offsets = stream.offsets if isinstance(stream, Stream) else stream.postings
    return _sum_hashes(_list_of_each(offsets), stream.docs.whole, stream.tfs.whole)


_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def _sum_hashes(terms: Array, docs: Array, times: Array | None = None) -> int:
    """The sum of the hashes of terms in documents, each counted `times` times; hashed as in SplitMix64."""
    total = 0
    for start in range(0, len(terms), HASH_BLOCK):
        block = slice(start, start + HASH_BLOCK)
        mixed = (terms[block].astype(np.uint64) << np.uint64(32) | docs[block].astype(np.uint64)) + _GAMMA
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        total += int((mixed if times is None else mixed * times[block].astype(np.uint64)).sum())
    return total % (1 << 64)


def _check_fields(fields: FieldColumns) -> Iterator[ColumnFinding]:
    """Check the columns of the fields against each other."""
    entry_fields = _list_of_each(fields.entries)
    all_tokens = fields.tokens.whole
    real = all_tokens != GAP
    entries, tokens = _list_of_each(fields.token_offsets)[real], all_tokens[real]
    if not np.array_equal(np.bincount(entries, minlength=len(entry_fields)), fields.entry_lengths):
        yield ColumnFinding("field.entry_lengths", "is not what field.tokens counts")
    elif _sum_hashes(tokens, fields.entry_docs[entries]) != _sum_postings(fields):
        yield ColumnFinding("field.docs", "and its frequencies do not agree with field.tokens")
    term_fields, value_fields = _fields_of(fields.names, fields.terms), _fields_of(fields.names, fields.values)
    if term_fields is None or value_fields is None:
        yield ColumnFinding("field.names", "lacks the field of a term or of a value")
        return
    if (term_fields[tokens] != entry_fields[entries]).any():
        yield ColumnFinding("field.tokens", "has a term of another field")
    known = entry_fields.astype(np.int64) * fields.n_docs + fields.entry_docs.whole
    for column, docs, fields_of_docs in (
        ("value_docs", fields.value_docs.whole, value_fields[_list_of_each(fields.value_offsets)]),
        ("number_docs", fields.number_docs.whole, _list_of_each(fields.number_offsets)),
        ("date_docs", fields.date_docs.whole, _list_of_each(fields.date_offsets)),
    ):
        if not np.isin(fields_of_docs.astype(np.int64) * fields.n_docs + docs, known).all():
            yield ColumnFinding(f"field.{column}", "has a document that does not have the field")


def _fields_of(names: Strings, keys: Strings) -> Array | None:
    """The number of the field of each key (name, separator, text); None if some key belongs to no field."""
    starts = [keys.first_from(name + SEPARATOR) for name in names]
    ends = [keys.first_from(name + AFTER_SEPARATOR) for name in names]
    if [*starts, len(keys)] != [0, *ends]:
        return None
    return _list_of_each(np.array([0, *ends]))
