"""Changes of a shard's columns, as numbers rather than as packed bytes."""

import numpy as np

from searchlab.indexing.storage.arrays.array_file import ArrayFile, write_arrays
from searchlab.indexing.storage.arrays.bit_packing import pack_postings, unpack_postings
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.narrow_column import NarrowColumn, narrow

TERMS_OF_TOKENS = {"tokens": "terms", "ngrams.tokens": "ngrams.terms"}


def alter_columns(path, change, *, unpacked=True):
    """Write the columns again after `change(arrays)`; the postings of a stream S are S.docs and S.tfs, unless not."""
    arrays = {name: column.whole.copy() for name, column in ArrayFile(path).items()}
    numbers = _unpack(arrays) if unpacked else {}
    merged = arrays | {name: array.copy() for name, array in numbers.items()}
    change(merged)
    for name in TERMS_OF_TOKENS:
        if name in numbers and name in merged:
            same = np.array_equal(merged[name], numbers[name])
            merged[name] = arrays[name] if same else narrow(merged[name], _n_terms(arrays, name))
    for stream in (name.removesuffix(".docs") for name in numbers if name.endswith(".docs")):
        docs, tfs = merged.pop(f"{stream}.docs", None), merged.pop(f"{stream}.tfs", None)
        if docs is not None and not (
            np.array_equal(docs, numbers[f"{stream}.docs"]) and np.array_equal(tfs, numbers[f"{stream}.tfs"])
        ):
            packed = pack_postings(arrays[f"{stream}.offsets"], docs, tfs)
            merged |= {f"{stream}.packed": packed.blob, f"{stream}.packed.starts": packed.starts}
    path.unlink()  # a reader that has mapped it keeps the old file
    write_arrays(path, merged)


def _unpack(arrays):
    numbers = {
        name: NarrowColumn(Column(arrays[name]), int(arrays[f"{name}.offsets"][-1]), _n_terms(arrays, name)).whole
        for name in TERMS_OF_TOKENS
        if name in arrays
    }
    for stream in [name.removesuffix(".packed") for name in arrays if name.endswith(".packed")]:
        offsets = arrays[f"{stream}.offsets"]
        docs, tfs = np.zeros((2, int(offsets[-1])), np.uint32)
        unpack_postings(arrays[f"{stream}.packed"], arrays[f"{stream}.packed.starts"], np.diff(offsets), docs, tfs)
        numbers |= {f"{stream}.docs": docs, f"{stream}.tfs": tfs}
    return numbers


def _n_terms(arrays, name):
    return len(arrays[f"{TERMS_OF_TOKENS[name]}.offsets"]) - 1
