"""Compiled loops over candidates: vectors by words, products of rare words, and means of neighbours.

They add and multiply the same numbers in the same order as `word_vectors` and `neighbours` do with NumPy: the results
are equal to the last bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compiled = njit(cache=True, nogil=True)


@compiled
def weigh_words(entries, distinct, places, idf, norms, least):  # type: ignore[no-untyped-def]
    """The parts of `WordVectors` from entries (word, row, count) in the order of rows; `distinct` words ascend.

    places[w, 1] is the number of entries of word w; the places of all words are 0 afterwards. Words of `least` rows or
    more are columns.
    """
    n, n_rows = len(entries), len(norms)
    bounds = np.zeros(len(distinct) + 1, np.int64)
    n_frequent = n_rare = 0
    for i in range(len(distinct)):
        size = places[distinct[i], 1]
        bounds[i + 1] = bounds[i] + size
        places[distinct[i], 1] = bounds[i]
        if size >= least:
            n_frequent += 1
        elif size > 1:
            n_rare += size
    rows, counts = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        place = places[entries[i, 0], 1]
        places[entries[i, 0], 1] = place + 1
        rows[place], counts[place] = entries[i, 1], entries[i, 2]
    # The squares of a row are added in the order of its words.
    weights, squares = np.empty(n), np.zeros(n_rows)
    for i in range(len(distinct)):
        weight = idf[distinct[i]]
        places[distinct[i]] = 0
        for j in range(bounds[i], bounds[i + 1]):
            count = np.float32(counts[j])
            weights[j] = (weight * count) / (count + norms[rows[j]])
            squares[rows[j]] += weights[j] * weights[j]
    dense = np.zeros((n_rows, n_frequent), np.float32)
    rare_rows, rare_weights = np.empty(n_rare, np.int64), np.empty(n_rare, np.float32)
    starts, ends = np.empty(n_rare, np.int64), np.empty(n_rare, np.int64)
    column = at = 0
    for i in range(len(distinct)):
        size = bounds[i + 1] - bounds[i]
        if size >= least:
            for j in range(bounds[i], bounds[i + 1]):
                dense[rows[j], column] = np.float32(weights[j] / np.sqrt(squares[rows[j]]))
            column += 1
        elif size > 1:  # a word of one document is shared with no other
            start = at
            for j in range(bounds[i], bounds[i + 1]):
                rare_rows[at] = rows[j]
                rare_weights[at] = np.float32(weights[j] / np.sqrt(squares[rows[j]]))
                starts[at], ends[at] = start, start + size
                at += 1
    return dense, rare_rows, rare_weights, starts, ends


@compiled
def add_rare_words(rows, weights, starts, ends, begin, products):  # type: ignore[no-untyped-def]
    """Add the products of rare words (see `WordVectors`) to those of the rows from `begin` with all rows."""
    sums = np.zeros(products.shape)
    for i in range(len(rows)):
        row = rows[i] - begin
        if 0 <= row < len(products):
            for j in range(starts[i], ends[i]):
                sums[row, rows[j]] += np.float64(weights[i] * weights[j])
    for row in range(products.shape[0]):
        for other in range(products.shape[1]):
            products[row, other] += np.float32(sums[row, other])


@compiled
def fill_means(cosines, begin, numbers, sizes, means):  # type: ignore[no-untyped-def]
    """The means of neighbours (see `neighbour_means`) for the rows from `begin`, of each column of `numbers`.

    sizes[c] is the number of neighbours for column c. Where no cosine is positive, `means` stays as it is.
    """
    n_rows, n = cosines.shape
    n_largest = min(sizes.max(), n)
    largest = np.empty(n_largest, cosines.dtype)
    totals, sums = np.empty(numbers.shape[1]), np.empty(numbers.shape[1])
    least = np.empty(numbers.shape[1], cosines.dtype)
    zero = cosines.dtype.type(0)
    for i in range(n_rows):
        cosines[i, begin + i] = zero  # a row is no neighbour of its own
        largest[:] = zero  # what is negative counts as 0, so that there are so many of at least 0
        smallest = zero
        for j in range(n):
            cosine = cosines[i, j]
            if cosine > smallest:
                at = n_largest - 1
                while at > 0 and largest[at - 1] < cosine:
                    largest[at] = largest[at - 1]
                    at -= 1
                largest[at] = cosine
                smallest = largest[n_largest - 1]
        for column in range(numbers.shape[1]):
            least[column] = largest[min(sizes[column], n) - 1]
            totals[column] = sums[column] = 0.0
        for j in range(n):
            cosine = cosines[i, j]
            if cosine >= smallest and cosine > zero:
                weight = np.float64(cosine)
                for column in range(numbers.shape[1]):
                    if cosine >= least[column]:
                        totals[column] += weight
                        sums[column] += weight * numbers[j, column]
        for column in range(numbers.shape[1]):
            if totals[column] > 0:
                means[begin + i, column] = sums[column] / totals[column]
