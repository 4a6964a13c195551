"""Blocks of rows of a sparse matrix, each with only those columns in which it has an entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from searchlab.indexing.blockwise.workspace import ArrayStore, StoredArrays
from searchlab.types import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some rows: column i of `rows` is column `columns[i]` of the matrix; its other columns are empty here."""

    columns: Array
    rows: csr_array

    @classmethod
    def of(cls, rows: csr_array) -> Self:
        """The block of rows that have all columns."""
        from scipy.sparse import csr_array

        is_used = np.zeros(rows.shape[1], bool)
        is_used[rows.indices] = True
        columns = np.flatnonzero(is_used)
        numbers = np.cumsum(is_used, dtype=np.int32) - 1
        compact = csr_array((rows.data, numbers[rows.indices], rows.indptr), shape=(rows.shape[0], len(columns)))
        return cls(columns, compact)

    def put(self, store: ArrayStore) -> StoredBlock:
        """Keep the block in a store."""
        rows = self.rows
        arrays = {"columns": self.columns, "starts": rows.indptr, "numbers": rows.indices, "values": rows.data}
        return StoredBlock(store.put(arrays), self.columns)

    @classmethod
    def load(cls, stored: StoredArrays) -> Self:
        """The block that a store keeps."""
        from scipy.sparse import csr_array

        arrays = stored.load()
        columns, starts = arrays["columns"], arrays["starts"]
        shape = len(starts) - 1, len(columns)
        return cls(columns, csr_array((arrays["values"], arrays["numbers"], starts), shape=shape))


class StoredBlock(NamedTuple):
    """A block in a store, and its columns."""

    stored: StoredArrays
    columns: Array
