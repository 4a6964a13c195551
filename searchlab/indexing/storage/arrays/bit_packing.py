"""Bit packing: postings in blocks with as many bits a number as the block's largest needs.

Postings are packed term by term, from a byte on. Their documents are ascending, so the gaps between them are packed,
each less 1 (the first counts from -1), and the frequencies, also less 1. A term with n postings has ⌈n/128⌉ blocks:

    the width of each block's gaps, a byte each
    the width of each block's frequencies, a byte each
    the gaps, then the frequencies: blocks of 128 numbers, the lowest bit first; each block begins with a byte

The layout is that of PForDelta's family without exceptions (Lemire and Boytsov, "Decoding billions of integers per
second through vectorization", 2015, call it binary packing). Eight bytes of zeros follow the last number of a column: a
number is taken from the eight bytes that it begins in.

NumPy packs and unpacks a few postings, compiled loops many (`bit_packing_kernels.py`), and all once numba is loaded.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import NamedTuple

import numpy as np

from searchlab.array_ranges import concatenate_ranges, offsets_of
from searchlab.types import Array

BLOCK = 128
PADDING = 8
# The widest number: with the seven bits before it in its first byte, it fits into eight bytes.
MAX_WIDTH = 32
# NumPy packs or unpacks about this many postings in the time that numba takes to load.
MIN_COMPILED_POSTINGS = 3_000_000
# NumPy unpacks the numbers of narrow blocks in groups of eight, which fit into eight bytes.
GROUP, MAX_GROUP_WIDTH = 8, 8
# Numbers that NumPy packs at once.
PACKED_AT_ONCE = 1 << 16


class PackedPostings(NamedTuple):
    """The bytes of all terms, PADDING included, and where those of each term begin; the end of the last comes last."""

    blob: Array
    starts: Array


def pack_postings(offsets: Array, docs: Array, tfs: Array) -> PackedPostings:
    """Pack postings; term t has those from offsets[t] up to offsets[t + 1]."""
    if kernels := _kernels(len(docs)):
        starts = offsets_of(kernels.measure_postings(offsets, docs, tfs))
        blob = np.zeros(starts[-1] + PADDING, np.uint8)
        kernels.pack_terms(offsets, docs, tfs, starts, blob)
        return PackedPostings(blob, starts)
    n_postings = np.diff(offsets)
    blocks = _Blocks.of(n_postings)
    begins = np.repeat(offsets[:-1], blocks.n_blocks) + BLOCK * blocks.places
    before = np.full(len(docs), -1, np.int64)
    before[1:] = docs[:-1]
    before[offsets[:-1][n_postings > 0]] = -1
    numbers = docs.astype(np.int64) - before - 1, tfs.astype(np.int64) - 1
    widths = [_bit_lengths(np.maximum.reduceat(values, begins)) if len(docs) else begins for values in numbers]
    layout = _Layout.of(blocks, *widths)
    starts = offsets_of(layout.sizes)
    blob = np.zeros(starts[-1] + PADDING, np.uint8)
    for kind, (values, width) in enumerate(zip(numbers, widths, strict=True)):
        blob[blocks.first(starts[:-1] + kind * blocks.n_blocks) + blocks.places] = width
        _put_blocks(blob, blocks.first(starts[:-1]) + layout.begins[kind], values, begins, blocks.lengths, width)
    return PackedPostings(blob, starts)


def unpack_postings(blob: Array, starts: Array, n_postings: Array, docs: Array, tfs: Array) -> None:
    """Unpack the postings of terms that follow each other into `docs` and `tfs`.

    Each term has n_postings[t]; its bytes are those from starts[t] up to starts[t + 1]. Raises ValueError if these
    cannot be right; nothing beyond them is read, but for PADDING.
    """
    if len(starts) != len(n_postings) + 1 or starts[0] < 0 or starts[-1] > len(blob) - PADDING:
        raise ValueError("postings outside the column")
    if kernels := _kernels(len(docs)):
        if not kernels.unpack_terms(blob, starts, n_postings, docs, tfs):
            raise ValueError("postings that do not fit their bytes")
        return
    blocks = _Blocks.of(n_postings)
    first = blocks.first(starts[:-1]) + blocks.places
    if (starts[:-1] + 2 * blocks.n_blocks > starts[1:]).any():
        raise ValueError("postings that do not fit their bytes")
    widths = [blob[first + kind * np.repeat(blocks.n_blocks, blocks.n_blocks)].astype(np.int64) for kind in (0, 1)]
    if any(width.max(initial=0) > MAX_WIDTH for width in widths):
        raise ValueError("postings of too many bits")
    layout = _Layout.of(blocks, *widths)
    if not np.array_equal(layout.sizes, np.diff(starts)):
        raise ValueError("postings that do not fit their bytes")
    gaps, more = (
        _take_blocks(blob, blocks.first(starts[:-1]) + layout.begins[kind], widths[kind], blocks.lengths)
        for kind in (0, 1)
    )
    # Sums over all terms, less those before each term.
    sums = np.cumsum(gaps, dtype=np.uint32)
    sums += np.arange(len(sums), dtype=np.uint32)
    if len(n_postings) > 1 and len(sums):
        begins = offsets_of(n_postings)[:-1]
        before = np.where(begins > 0, sums[begins - 1] + np.uint32(1), np.uint32(0))
        sums -= np.repeat(before, n_postings)
    docs[:] = sums
    tfs[:] = more
    tfs += tfs.dtype.type(1)


class _Blocks(NamedTuple):
    """The blocks of terms: how many each term has; of each its place among its term's, and its numbers."""

    n_blocks: Array
    places: Array
    lengths: Array

    @classmethod
    def of(cls, n_numbers: Array) -> _Blocks:
        n_blocks = -(-n_numbers // BLOCK)
        places = concatenate_ranges(np.zeros_like(n_blocks), n_blocks, int(n_blocks.max(initial=0)))
        return cls(n_blocks, places, np.minimum(np.repeat(n_numbers, n_blocks) - BLOCK * places, BLOCK))

    def first(self, of_terms: Array) -> Array:
        """For each block a number of its term."""
        return np.repeat(of_terms, self.n_blocks)

    def before(self, of_blocks: Array) -> tuple[Array, Array]:
        """For each block the sum over the blocks before it in its term; and for each term the sum over all."""
        sums, bounds = offsets_of(of_blocks), offsets_of(self.n_blocks)
        return sums[:-1] - self.first(sums[bounds[:-1]]), np.diff(sums[bounds])


class _Layout(NamedTuple):
    """Where the gaps and the frequencies of each block begin, from the first byte of its term; and the terms' sizes."""

    begins: tuple[Array, Array]
    sizes: Array

    @classmethod
    def of(cls, blocks: _Blocks, gap_widths: Array, tf_widths: Array) -> _Layout:
        gaps, all_gaps = blocks.before(-(-blocks.lengths * gap_widths // 8))
        tfs, all_tfs = blocks.before(-(-blocks.lengths * tf_widths // 8))
        of_widths = 2 * blocks.n_blocks
        return cls(
            (blocks.first(of_widths) + gaps, blocks.first(of_widths + all_gaps) + tfs), of_widths + all_gaps + all_tfs
        )


def _put_blocks(blob: Array, at: Array, numbers: Array, begins: Array, lengths: Array, widths: Array) -> None:
    """Write blocks of numbers to where each is to be, those of one width together."""
    columns = np.arange(BLOCK)
    for width in np.unique(widths[widths > 0]).tolist():
        for chosen in _pieces(np.flatnonzero(widths == width)):
            inside = columns < lengths[chosen, None]
            rows = np.where(inside, numbers[np.minimum(begins[chosen, None] + columns, len(numbers) - 1)], 0)
            packed = np.packbits(_bits(rows, width), axis=1, bitorder="little")
            own = np.arange(packed.shape[1]) < -(-lengths[chosen, None] * width // 8)
            blob[(at[chosen, None] + np.arange(packed.shape[1]))[own]] = packed[own]


def _take_blocks(blob: Array, at: Array, widths: Array, lengths: Array) -> Array:
    """The numbers of blocks, one block after the other."""
    is_narrow = widths <= MAX_GROUP_WIDTH
    if is_narrow.all():
        return _take_groups(blob, at, widths, lengths)
    numbers = np.empty(lengths.sum(), np.uint32)
    in_narrow = np.repeat(is_narrow, lengths)
    numbers[in_narrow] = _take_groups(blob, at[is_narrow], widths[is_narrow], lengths[is_narrow])
    numbers[~in_narrow] = _take_singly(blob, at[~is_narrow], widths[~is_narrow], lengths[~is_narrow])
    return numbers


def _take_groups(blob: Array, at: Array, widths: Array, lengths: Array) -> Array:
    """The same for narrow blocks: eight numbers of w bits begin with a byte, and are w bytes."""
    n_groups = -(-lengths // GROUP)
    places = concatenate_ranges(np.zeros_like(n_groups), n_groups, BLOCK // GROUP)
    of_groups = np.repeat(widths, n_groups)
    words = _words(blob)[np.repeat(at, n_groups) + places * of_groups]
    masks, shifts = ((1 << of_groups) - 1).astype(np.uint8), of_groups.astype(np.uint64)
    numbers = np.empty((len(words), GROUP), np.uint8)
    # Column by column, with the lowest byte of each word: a third of the time of all shifts at once.
    for place in range(GROUP):
        np.bitwise_and(words.astype(np.uint8), masks, out=numbers[:, place])
        words >>= shifts
    if (lengths[:-1] % GROUP).any():
        in_block = GROUP * places[:, None] + np.arange(GROUP)
        return numbers[in_block < np.repeat(lengths, n_groups)[:, None]]
    whole: Array = numbers.ravel()[: lengths.sum()]
    return whole


def _take_singly(blob: Array, at: Array, widths: Array, lengths: Array) -> Array:
    """The same for blocks of any width, number by number."""
    within = concatenate_ranges(np.zeros_like(lengths), lengths, BLOCK)
    bits = np.repeat(8 * at, lengths) + within * np.repeat(widths, lengths)
    masks = (np.uint64(1) << widths.astype(np.uint64)) - np.uint64(1)
    numbers = (_words(blob)[bits >> 3] >> (bits & 7).astype(np.uint64)) & np.repeat(masks, lengths)
    taken: Array = numbers.astype(np.uint32)
    return taken


def _words(blob: Array) -> Array:
    """The eight bytes from each byte on, as a number."""
    return np.lib.stride_tricks.as_strided(
        blob[:PADDING].view("<u8"), (max(len(blob) - PADDING + 1, 0),), (1,), writeable=False
    )


def _bits(numbers: Array, width: int) -> Array:
    """The bits of each number, the lowest first; those of numbers in a row follow each other."""
    bits = (numbers[..., None].astype(np.int64) >> np.arange(width)) & 1
    return bits.astype(np.uint8).reshape(*numbers.shape[:-1], -1)


def _bit_lengths(numbers: Array) -> Array:
    """The number of bits of each number."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)


def _pieces(numbers: Array) -> list[Array]:
    return np.array_split(numbers, -(-len(numbers) * BLOCK // PACKED_AT_ONCE))


def _kernels(n: int) -> ModuleType | None:
    """The compiled loops, if they are loaded or worth loading for n postings."""
    if n < MIN_COMPILED_POSTINGS and "numba" not in sys.modules:
        return None
    from searchlab.indexing.storage.arrays import bit_packing_kernels

    return bit_packing_kernels
