"""Truncated singular value decomposition of a large sparse matrix.

The method is randomised, needs few products with the matrix, and is reproducible by its seed. Only these products touch
the matrix, so that it can be in blocks on many machines (`block_matrix`); all else has the size of the vocabulary.
"""

from __future__ import annotations

import numpy as np

from searchlab.features.latent_semantics.block_matrix import BlockMatrix
from searchlab.types import Array, Progress

# The Krylov space has OVERSAMPLING · dims dimensions, at least MIN_SIZE, and grows by BLOCK at a time.
OVERSAMPLING = 4
BLOCK = 32
MIN_SIZE = 10 * BLOCK
# Squared singular values, and squared lengths of vectors, below these shares of the largest are rounding errors.
NEGLIGIBLE, ROUNDING = 1e-6, 1e-12


def decompose(A: BlockMatrix, dims: int, seed: int, progress: Progress) -> Array:
    """V of A ≈ U Σ Vᵀ: a column for each dimension, its largest entry positive; 0 from the rank of A on.

    A small A is decomposed exactly, by the eigenvectors of AᵀA or AAᵀ. Otherwise by a randomised block Krylov method
    (Musco, Musco 2015): V is the best within the span of Ω, AᵀAΩ, (AᵀA)²Ω, …, Ω random, OVERSAMPLING·dims dimensions in
    all. An orthonormal basis K of that space grows by BLOCK columns at a time, as in Lanczos's method, and the
    eigenvectors of KᵀAᵀAK are V in the coordinates of K. Deviation: blocks are much narrower than `dims`, which is more
    exact for the same number of products.
    """
    size = max(OVERSAMPLING * dims, MIN_SIZE)
    if min(A.shape) > size:
        K, T = _krylov(A, size, seed, progress)
        squares, W = _largest(_eigen_of_band(T, 2 * BLOCK), dims)
        V = K.T @ W.astype(np.float32)
    elif A.shape[0] >= A.shape[1]:
        squares, V = _largest(np.linalg.eigh(A.gram()), dims)
    else:
        whole = A.whole()
        squares, U = _largest(np.linalg.eigh((whole @ whole.T).toarray()), dims)
        V = whole.T @ (U / np.sqrt(np.maximum(squares, ROUNDING)))
    V = V * (squares > NEGLIGIBLE * (squares.max() if len(squares) else 0.0))
    if len(V):
        V *= np.where(np.take_along_axis(V, np.abs(V).argmax(0)[None], 0) < 0, -1, 1)
    progress("decomposing", size, size)
    return np.pad(V, ((0, 0), (0, dims - V.shape[1]))).astype(np.float32)


def _largest(eigen: tuple[Array, Array], n: int) -> tuple[Array, Array]:
    """The n largest of ascending eigenvalues, in descending order, and their eigenvectors."""
    values, vectors = eigen
    return values[::-1][:n], vectors[:, ::-1][:, :n]


def _eigen_of_band(T: Array, width: int) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of a symmetric band matrix, of which the upper triangle is given.

    A routine for dense matrices gives the same, but takes several times as long on a busy machine, because it
    synchronises threads for every row.
    """
    from scipy.linalg import eig_banded  # type: ignore[import-untyped]

    diagonals = range(min(width, len(T)) - 1, -1, -1)
    eigen: tuple[Array, Array] = eig_banded(np.array([np.pad(np.diagonal(T, d), (d, 0)) for d in diagonals]))
    return eigen


def _krylov(A: BlockMatrix, size: int, seed: int, progress: Progress) -> tuple[Array, Array]:
    """An orthonormal basis of `size` rows of the Krylov space, and the upper triangle of AᵀA in its coordinates.

    The entries of two blocks of the basis that are not adjacent are rounding errors.
    """
    K = np.empty((size, A.shape[1]), np.float32)
    T = np.zeros((size, size))
    Z = np.random.default_rng(seed).standard_normal((A.shape[1], BLOCK), np.float32)
    done, least = 0, 0.0
    while done < size:
        # Z is orthogonal to K up to rounding errors, which are removed after it has been scaled to length 1.
        Q = _orthonormal(Z, least)
        Q = _orthonormal(Q - K[:done].T @ (K[:done] @ Q), 0.5)[:, : size - done]
        if not Q.shape[1]:
            break  # the space is the whole row space of A
        begin, done = done, done + Q.shape[1]
        K[begin:done] = Q.T
        Z = A.gram_product(Q)
        least = ROUNDING * float(np.linalg.norm(Z)) ** 2
        T[:done, begin:done] = projected = K[:done] @ Z
        Z -= K[:done].T @ projected
        progress("decomposing", done, size)
    return K[:done], T[:done, :done]


def _orthonormal(Z: Array, least: float) -> Array:
    """Orthonormal columns that span those of Z, without directions whose squared length is at most `least`."""
    exact = Z.astype(np.float64)
    values, vectors = np.linalg.eigh(exact.T @ exact)
    kept = values > least
    columns: Array = (exact @ (vectors[:, kept] / np.sqrt(values[kept]))).astype(np.float32)
    return columns
