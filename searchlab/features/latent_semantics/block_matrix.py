"""A large sparse matrix in blocks of its rows, multiplied block by block.

Partial sums are added in the order of the blocks: the result does not depend on who computes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from searchlab.indexing.blockwise.row_blocks import RowBlock, StoredBlock
from searchlab.indexing.blockwise.workspace import IN_MEMORY, StoredArrays, Workspace
from searchlab.types import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]


class BlockMatrix:
    """A matrix A of `n_columns` columns, by its blocks."""

    def __init__(self, workspace: Workspace, blocks: Sequence[StoredBlock], n_rows: int, n_columns: int) -> None:
        self._workspace = workspace
        self._blocks = blocks
        self.shape = n_rows, n_columns

    @classmethod
    def of(cls, *blocks: csr_array) -> BlockMatrix:
        """A matrix in memory, from all its rows."""
        stored = [RowBlock.of(rows).put(IN_MEMORY.store) for rows in blocks]
        return cls(IN_MEMORY, stored, sum(rows.shape[0] for rows in blocks), blocks[0].shape[1])

    def gram_product(self, Q: Array) -> Array:
        """AᵀA·Q, of four bytes a number."""
        total = np.zeros((self.shape[1], Q.shape[1]), np.float32)
        sent = self._workspace.store.put({"Q": Q})
        try:
            products = self._workspace.map(multiply_block, [(block.stored, sent) for block in self._blocks])
            for block, product in zip(self._blocks, products, strict=True):
                total[block.columns] += product
        finally:
            sent.remove()
        return total

    def gram(self) -> Array:
        """AᵀA, for a matrix of few columns."""
        total = np.zeros((self.shape[1], self.shape[1]))
        products = self._workspace.map(square_block, [(block.stored,) for block in self._blocks])
        for block, product in zip(self._blocks, products, strict=True):
            total[np.ix_(block.columns, block.columns)] += product
        return total

    def whole(self) -> csr_array:
        """A itself, for a matrix of few rows."""
        from scipy.sparse import csr_array, vstack

        pieces = [csr_array((0, self.shape[1]))]
        for each in self._blocks:
            block = RowBlock.load(each.stored)
            columns = block.columns[block.rows.indices]
            shape = block.rows.shape[0], self.shape[1]
            pieces.append(csr_array((block.rows.data.astype(np.float64), columns, block.rows.indptr), shape=shape))
        return vstack(pieces, format="csr")


def multiply_block(stored: StoredArrays, sent: StoredArrays) -> Array:
    """BᵀB·Q of a block B, for its columns."""
    block = RowBlock.load(stored)
    product: Array = block.rows.T @ (block.rows @ sent.load()["Q"][block.columns])
    return product


def square_block(stored: StoredArrays) -> Array:
    """BᵀB of a block B, for its columns."""
    rows = RowBlock.load(stored).rows.astype(np.float64)
    product: Array = (rows.T @ rows).toarray()
    return product
