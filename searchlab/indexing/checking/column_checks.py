"""Do the columns of a shard agree with each other?

They hold the same numbers in several forms: postings by term and tokens by document, counts and lengths beside
what they count, bitmaps beside lists. First every column must lead to places that are there, in order; then the
forms are compared. What is told of each disagreement is the column that stands alone against the others.

Postings are sorted by term, tokens by document. They are compared without sorting, by the sum of a 64-bit hash of
every term in every document, which is the same in any order: a difference escapes once in 2⁶⁴ times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from searchlab.indexing.storage.columns import STREAMS, ShardColumns
from searchlab.indexing.storage.field_columns import AFTER_SEPARATOR, GAP, SEPARATOR, FieldColumns
from searchlab.indexing.storage.streams import Stream, count_terms
from searchlab.indexing.storage.string_table import Strings
from searchlab.types import Array

# Numbers that are hashed at once.
PIECE = 1 << 20

NO_OFFSETS = "does not ascend from 0"
NO_TERM = "names a term that is not there"


class Doubt(NamedTuple):
    """A column, and what is wrong with it: the two read as a sentence."""

    column: str
    problem: str


def check_columns(columns: ShardColumns) -> list[Doubt]:
    """What is doubtful about columns that fit together (see `open_columns`)."""
    for check in (_doubt_order, _doubt_counts, _doubt_tokens):
        if found := list(check(columns)):
            return found  # what comes next would stumble over these
    return []


def _doubt_order(columns: ShardColumns) -> Iterator[Doubt]:
    """Does every column lead to places that are there, in order?"""
    fields, n_docs, n_terms = columns.fields, columns.n_docs, len(columns.terms)
    strings = {"docnos": columns.docnos, "terms": columns.terms, "words": columns.words}
    strings |= {"field.names": fields.names, "field.terms": fields.terms, "field.values": fields.values}
    for name, texts in strings.items():
        if not _are_sorted(texts):
            yield Doubt(name, "is not distinct strings in the order of their bytes")

    for name, stream in columns.streams.items():
        yield from _doubt_lists(f"{name}.offsets", stream.offsets, f"{name}.docs", stream.docs, n_docs)
        yield from _doubt_tfs(f"{name}.tfs", stream.tfs)
    yield from _doubt_lists("field.postings", fields.postings, "field.docs", fields.docs, n_docs)
    yield from _doubt_tfs("field.tfs", fields.tfs)
    yield from _doubt_lists("field.entries", fields.entries, "field.entry_docs", fields.entry_docs, n_docs)
    yield from _doubt_lists("field.value_offsets", fields.value_offsets, "field.value_docs", fields.value_docs, n_docs)
    for kind in ("number", "date"):
        yield from _doubt_sorted(kind, fields)

    if not _within(columns.word_terms, -1, n_terms):
        yield Doubt("words.terms", NO_TERM)
    for name, offsets in (("tokens.offsets", columns.token_offsets), ("field.token_offsets", fields.token_offsets)):
        if not _begins(offsets):
            yield Doubt(name, NO_OFFSETS)
    if not _within(columns.tokens, 0, n_terms):
        yield Doubt("tokens", NO_TERM)
    if not _within(fields.tokens[fields.tokens != GAP], 0, len(fields.terms)):
        yield Doubt("field.tokens", NO_TERM)


def _doubt_lists(offsets_name: str, offsets: Array, docs_name: str, docs: Array, n_docs: int) -> Iterator[Doubt]:
    """Does each list, which begins at its offset, name documents in ascending order?"""
    if not _begins(offsets):
        yield Doubt(offsets_name, NO_OFFSETS)
    elif not _within(docs, 0, n_docs) or not _ascends(docs, offsets, strictly=True):
        yield Doubt(docs_name, "is not numbers of documents in ascending order")


def _doubt_tfs(name: str, tfs: Array) -> Iterator[Doubt]:
    if not _within(tfs, 1, np.iinfo(np.int64).max):
        yield Doubt(name, "has a term that occurs not even once")


def _doubt_sorted(kind: str, fields: FieldColumns) -> Iterator[Doubt]:
    """Do the numbers, or the dates, of each field ascend?"""
    items, docs, offsets = (getattr(fields, f"{kind}{part}") for part in ("s", "_docs", "_offsets"))
    if not _begins(offsets):
        yield Doubt(f"field.{kind}_offsets", NO_OFFSETS)
    elif not np.isfinite(items).all() or not _ascends(items, offsets, strictly=False):
        yield Doubt(f"field.{kind}s", f"is not {kind}s in ascending order")
    if not _within(docs, 0, fields.n_docs):
        yield Doubt(f"field.{kind}_docs", "names a document that is not there")


def _are_sorted(strings: Strings) -> bool:
    if not _begins(strings.arrays[1]):
        return False
    try:
        texts = strings.take(np.arange(len(strings)))
    except UnicodeDecodeError:
        return False
    # The order of code points is that of UTF-8.
    return all(map(str.__lt__, texts, texts[1:]))


def _begins(offsets: Array) -> bool:
    return bool(offsets[0] == 0 and (offsets[1:] >= offsets[:-1]).all())


def _within(numbers: Array, low: int, after: int) -> bool:
    return not len(numbers) or bool(low <= numbers.min() and numbers.max() < after)


def _ascends(items: Array, offsets: Array, *, strictly: bool) -> bool:
    """Whether the items of each list ascend."""
    rises = items[1:] > items[:-1] if strictly else items[1:] >= items[:-1]
    starts = offsets[(offsets > 0) & (offsets < len(items))]
    rises[starts - 1] = True
    return bool(rises.all())


def _doubt_counts(columns: ShardColumns) -> Iterator[Doubt]:
    for name, stream in columns.streams.items():
        yield from _doubt_stream(name, stream, columns.n_docs)
    yield from _doubt_fields(columns.fields)


def _doubt_stream(name: str, stream: Stream, n_docs: int) -> Iterator[Doubt]:
    """Are counts, lengths and bitmaps those of the postings?"""
    counts, max_tfs = count_terms(stream.offsets, stream.tfs)
    expected = {
        "counts": counts,
        "max_tfs": max_tfs,
        "lengths": np.bincount(stream.docs, stream.tfs, n_docs),
        "uniques": np.bincount(stream.docs, minlength=n_docs),
    }
    wrong = [column for column, numbers in expected.items() if not np.array_equal(getattr(stream, column), numbers)]
    if len(wrong) == 1:
        yield Doubt(f"{name}.{wrong[0]}", f"is not what the postings of {name} give")
    elif wrong:
        yield Doubt(f"{name}.{'docs' if 'uniques' in wrong else 'tfs'}", f"does not agree with {' and '.join(wrong)}")
    elif not (_within(stream.dense, 0, len(counts)) and (np.diff(stream.dense) > 0).all()):
        yield Doubt(f"{name}.dense", "is not numbers of terms in ascending order")
    else:
        yield from _doubt_bitmaps(name, stream, n_docs)


def _doubt_bitmaps(name: str, stream: Stream, n_docs: int) -> Iterator[Doubt]:
    shape = (len(stream.dense), -(-n_docs // 64))
    for column in ("bits", "ranks"):
        if getattr(stream, column).shape != shape:
            yield Doubt(f"{name}.{column}", f"has the shape {getattr(stream, column).shape}, expected {shape}")
            return
    for term, bits, ranks in zip(stream.dense.tolist(), stream.bits, stream.ranks, strict=True):
        has = np.unpackbits(bits.view(np.uint8), bitorder="little")
        if not np.array_equal(np.flatnonzero(has), stream.docs[stream.offsets[term] : stream.offsets[term + 1]]):
            yield Doubt(f"{name}.bits", f"is not the documents of the dense terms of {name}")
            return
        if not np.array_equal(ranks[1:], np.cumsum(has.reshape(-1, 64).sum(axis=1))[:-1]) or ranks[:1].any():
            yield Doubt(f"{name}.ranks", f"is not what {name}.bits counts")
            return


def _doubt_tokens(columns: ShardColumns) -> Iterator[Doubt]:
    """Are the postings of each stream the tokens of the documents?"""
    title, body, both = (columns.streams[name].lengths for name in STREAMS)
    if not np.array_equal(title + body, both):
        yield Doubt("both.lengths", "is not those of title and body together")
        return
    if not np.array_equal(np.diff(columns.token_offsets), both):
        yield Doubt("tokens.offsets", "does not agree with both.lengths")
        return
    docs = _owners(columns.token_offsets)
    in_title = np.arange(len(docs)) < np.repeat(columns.token_offsets[:-1] + title, both)
    sums = {
        "title": _sum_hashes(columns.tokens[in_title], docs[in_title]),
        "body": _sum_hashes(columns.tokens[~in_title], docs[~in_title]),
        "both": _sum_hashes(columns.tokens, docs),
    }
    wrong = [name for name, stream in columns.streams.items() if _sum_postings(stream) != sums[name]]
    if len(wrong) == 1:
        yield Doubt(f"{wrong[0]}.docs", "and the frequencies beside it are not the tokens of the documents")
    elif wrong:
        yield Doubt("tokens", f"is not the terms that {' and '.join(wrong)} have")


def _owners(offsets: Array) -> Array:
    """For each item of lists, the list that it belongs to."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.uint32), np.diff(offsets))


def _sum_postings(stream: Stream | FieldColumns) -> int:
    offsets = stream.offsets if isinstance(stream, Stream) else stream.postings
    return _sum_hashes(_owners(offsets), stream.docs, stream.tfs)


_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def _sum_hashes(terms: Array, docs: Array, times: Array | None = None) -> int:
    """The sum of the hashes of terms in documents, each counted `times` times; the hash is that of SplitMix64."""
    total = 0
    for start in range(0, len(terms), PIECE):
        own = slice(start, start + PIECE)
        mixed = (terms[own].astype(np.uint64) << np.uint64(32) | docs[own].astype(np.uint64)) + _GAMMA
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        total += int((mixed if times is None else mixed * times[own].astype(np.uint64)).sum())
    return total % (1 << 64)


def _doubt_fields(fields: FieldColumns) -> Iterator[Doubt]:
    """Do the columns of the fields say the same of each field and document?"""
    entry_fields = _owners(fields.entries)
    real = fields.tokens != GAP
    entries, tokens = _owners(fields.token_offsets)[real], fields.tokens[real]
    if not np.array_equal(np.bincount(entries, minlength=len(entry_fields)), fields.entry_lengths):
        yield Doubt("field.entry_lengths", "is not what field.tokens counts")
    elif _sum_hashes(tokens, fields.entry_docs[entries]) != _sum_postings(fields):
        yield Doubt("field.docs", "and the frequencies beside it are not those of field.tokens")
    term_fields, value_fields = _fields_of(fields.names, fields.terms), _fields_of(fields.names, fields.values)
    if term_fields is None or value_fields is None:
        yield Doubt("field.names", "lacks the field of a term or of a value")
        return
    if (term_fields[tokens] != entry_fields[entries]).any():
        yield Doubt("field.tokens", "has a term of another field")
    known = entry_fields.astype(np.int64) * fields.n_docs + fields.entry_docs
    for column, docs, owners in (
        ("value_docs", fields.value_docs, value_fields[_owners(fields.value_offsets)]),
        ("number_docs", fields.number_docs, _owners(fields.number_offsets)),
        ("date_docs", fields.date_docs, _owners(fields.date_offsets)),
    ):
        if not np.isin(owners.astype(np.int64) * fields.n_docs + docs, known).all():
            yield Doubt(f"field.{column}", "has a document that does not have the field")


def _fields_of(names: Strings, keys: Strings) -> Array | None:
    """The field of each key (name, separator, text); None if the fields do not account for all keys."""
    starts = [keys.first_from(name + SEPARATOR) for name in names]
    ends = [keys.first_from(name + AFTER_SEPARATOR) for name in names]
    if [*starts, len(keys)] != [0, *ends]:
        return None
    return _owners(np.array([0, *ends]))
