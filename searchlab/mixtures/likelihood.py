"""The query likelihood of a mixture of K language models.

    P(Q|D) = Π over the words q of Q of Σ_k m_k·P_k(q|D),   m_k ≥ 0, Σ m_k = 1

(Miller, Leek, Schwartz, SIGIR 1999; Chen, Learning to Rank using Language Models and SVMs, slide 1). Training reads the
`Evidence`: the probability of each word of each query by each of K components, in relevant and in irrelevant documents.
Evidence is independent of an index, so any mixture can be trained: weights of models, or shares of latent topics.

A query may have units of several levels, words and character n-grams; each is given probabilities by the components of
its level alone. With s_l the sum of the weights of level l, a pair then fits by

    Σ_l s_l·(1/|Q_l|)·Σ over the units u of level l of ln Σ_{k in l} (m_k/s_l)·P_k(u|D)

Arrays are flat: rows (a word of a query in a document) form pairs (a query and a document), and pairs form queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from searchlab.array_ranges import concatenate_ranges, offsets_of
from searchlab.errors import SettingError
from searchlab.types import Flags, Floats, Ints

# How much a sum of weights may differ from 1.
ROUNDING = 1e-6
# The probability of a word that no component knows, the same in every document.
MIN_PROBABILITY = 1e-300


@dataclass(frozen=True, eq=False)
class Levels:
    """The level of each row and of each component, from 0."""

    rows: Ints
    components: Ints

    def take(self, rows: Ints) -> Levels:
        """The levels of some rows."""
        return Levels(self.rows[rows], self.components)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The probabilities of the words of some queries by K components.

    `probabilities[r, k]` is P_k of row r: of a word in one document, which occurs `counts[r]` times in its query. Pair
    p has the rows `pair_offsets[p]:pair_offsets[p + 1]`, query i the pairs `query_offsets[i]:query_offsets[i + 1]`.
    `relevant[p]` says whether the document is relevant, and `groups[p]` is the row of its weights: 0 for all pairs if
    weights are shared. `levels` is None if all rows are of one level.
    """

    probabilities: Floats
    counts: Floats
    pair_offsets: Ints
    query_offsets: Ints
    relevant: Flags
    groups: Ints
    levels: Levels | None = None

    def __post_init__(self) -> None:
        n_rows, n_pairs = len(self.counts), len(self.relevant)
        if self.probabilities.shape[:1] != (n_rows,) or self.probabilities.ndim != 2 or len(self.groups) != n_pairs:
            raise SettingError(
                f"evidence: {self.probabilities.shape} probabilities for {n_rows} rows, "
                f"{len(self.groups)} groups for {n_pairs} pairs, expected as many of each"
            )
        _check_offsets("pair", self.pair_offsets, n_pairs, n_rows)
        _check_offsets("query", self.query_offsets, len(self.query_offsets) - 1, n_pairs)
        if self.levels is not None and (len(self.levels.rows), len(self.levels.components)) != self.probabilities.shape:
            raise SettingError(
                f"evidence: levels of {len(self.levels.rows)} rows and {len(self.levels.components)} components, "
                f"expected {n_rows} and {self.n_components}"
            )
        if self.levels is not None and n_pairs and int(np.max(self.groups)):
            raise SettingError("evidence: several levels and groups of documents, expected weights that all share")

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.probabilities.shape[1])

    @property
    def n_pairs(self) -> int:
        """The number of pairs of a query and a document."""
        return len(self.relevant)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.query_offsets) - 1

    @cached_property
    def pair_of_row(self) -> Ints:
        """The pair of each row."""
        return np.repeat(np.arange(self.n_pairs), np.diff(self.pair_offsets))

    @cached_property
    def group_of_row(self) -> Ints:
        """The group of each row."""
        return self.groups[self.pair_of_row]

    @cached_property
    def rows_by_group(self) -> Ints:
        """All rows, sorted by group."""
        return np.argsort(self.group_of_row, kind="stable")

    @cached_property
    def query_of_pair(self) -> Ints:
        """The query of each pair."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.query_offsets))

    @cached_property
    def lengths(self) -> Floats:
        """|Q| of each pair: the words of its query, repeats included."""
        return sum_segments(self.counts, self.pair_offsets)

    @cached_property
    def is_contrast(self) -> Flags:
        """For each query, whether it has both relevant and irrelevant documents."""
        n_relevant = sum_segments(self.relevant.astype(float), self.query_offsets)
        return (n_relevant > 0) & (n_relevant < np.diff(self.query_offsets))

    def take(self, queries: npt.ArrayLike) -> Evidence:
        """The evidence of some queries, by number."""
        chosen = np.asarray(queries, np.int64).reshape(-1)
        pairs = concatenate_ranges(self.query_offsets[chosen], self.query_offsets[chosen + 1], self.n_pairs)
        rows = concatenate_ranges(self.pair_offsets[pairs], self.pair_offsets[pairs + 1], len(self.counts))
        return Evidence(
            self.probabilities[rows],
            self.counts[rows],
            offsets_of(np.diff(self.pair_offsets)[pairs]),
            offsets_of(np.diff(self.query_offsets)[chosen]),
            self.relevant[pairs],
            self.groups[pairs],
            None if self.levels is None else self.levels.take(rows),
        )

    def only(self, columns: Sequence[int]) -> Evidence:
        """The evidence of some components, by number, and of the units of their levels."""
        probabilities = self.probabilities[:, columns]
        if self.levels is None:
            return replace(self, probabilities=np.ascontiguousarray(probabilities))
        components = self.levels.components[list(columns)]
        rows = np.flatnonzero(np.isin(self.levels.rows, components))
        sizes = np.bincount(self.pair_of_row[rows], minlength=self.n_pairs)
        return replace(
            self,
            probabilities=probabilities[rows],
            counts=self.counts[rows],
            pair_offsets=offsets_of(sizes),
            levels=Levels(self.levels.rows[rows], components) if len(np.unique(components)) > 1 else None,
        )

    def with_pairs(self, pairs: Ints) -> Evidence:
        """The evidence of some pairs, by number, ascending; queries without any are left out."""
        rows = concatenate_ranges(self.pair_offsets[pairs], self.pair_offsets[pairs + 1], len(self.counts))
        sizes = np.bincount(self.query_of_pair[pairs], minlength=self.n_queries)
        return Evidence(
            self.probabilities[rows],
            self.counts[rows],
            offsets_of(np.diff(self.pair_offsets)[pairs]),
            offsets_of(sizes[sizes > 0]),
            self.relevant[pairs],
            self.groups[pairs],
            None if self.levels is None else self.levels.take(rows),
        )

    def only_relevant(self) -> Evidence:
        """The evidence of relevant documents alone; queries without any are left out."""
        return self.with_pairs(np.flatnonzero(self.relevant))

    def each_relevant(self) -> Iterator[Evidence]:
        """For each relevant document of each query, the evidence of it and of the query's irrelevant documents."""
        for begin, end in pairwise(self.query_offsets.tolist()):
            relevant = self.relevant[begin:end]
            for position in np.flatnonzero(relevant).tolist():
                is_used = ~relevant
                is_used[position] = True
                yield self.with_pairs(begin + np.flatnonzero(is_used))


def join(pieces: Sequence[Evidence]) -> Evidence:
    """Several pieces of evidence as one."""
    if not pieces:
        raise SettingError("no evidence: expected at least one query with documents")
    return Evidence(
        np.concatenate([piece.probabilities for piece in pieces]),
        np.concatenate([piece.counts for piece in pieces]),
        offsets_of(np.concatenate([np.diff(piece.pair_offsets) for piece in pieces])),
        offsets_of(np.concatenate([np.diff(piece.query_offsets) for piece in pieces])),
        np.concatenate([piece.relevant for piece in pieces]),
        np.concatenate([piece.groups for piece in pieces]),
        _join_levels([piece.levels for piece in pieces]),
    )


def _join_levels(pieces: Sequence[Levels | None]) -> Levels | None:
    known = [piece for piece in pieces if piece is not None]
    if not known:
        return None
    if len(known) < len(pieces):
        raise SettingError("evidence: pieces with and without levels, expected one of the two")
    return Levels(np.concatenate([piece.rows for piece in known]), known[0].components)


def one_query(
    probabilities: Floats,
    counts: Floats,
    relevant: Flags,
    groups: Ints | None = None,
    levels: Levels | None = None,
) -> Evidence:
    """The evidence of a single query: `probabilities[d, n, k]` is P_k of its n-th distinct unit in document d.

    `levels.rows` are the levels of the units.
    """
    n_docs, n_words, n_components = probabilities.shape
    return Evidence(
        np.ascontiguousarray(probabilities, np.float64).reshape(-1, n_components),
        np.tile(np.asarray(counts, np.float64), n_docs),
        np.arange(0, n_docs * n_words + 1, n_words),
        np.array([0, n_docs]),
        np.asarray(relevant, bool),
        np.zeros(n_docs, np.int64) if groups is None else np.asarray(groups, np.int64),
        None if levels is None else Levels(np.tile(levels.rows, n_docs), levels.components),
    )


def log_likelihoods(evidence: Evidence, weights: Floats) -> Floats:
    """ln P(Q|D) of each pair, over the units of all levels; `weights[g, k]` are those of group g."""
    return sum_segments(evidence.counts * np.log(mix_components(evidence, weights)), evidence.pair_offsets)


def mix_components(evidence: Evidence, weights: Floats) -> Floats:
    """Σ_k m_k·P_k of each row."""
    if len(weights) == 1:
        totals = evidence.probabilities @ weights[0]
    else:
        totals = np.einsum("rk,rk->r", evidence.probabilities, weights[evidence.group_of_row])
    return np.asarray(np.maximum(totals, MIN_PROBABILITY))


def fit_pairs(evidence: Evidence, weights: Floats, totals: Floats) -> Floats:
    """How well each pair fits: (1/|Q|)·ln P(Q|D), or the weighted mean over levels; `totals` as `mix_components`."""
    if evidence.levels is None:
        return sum_segments(evidence.counts * np.log(totals), evidence.pair_offsets) / evidence.lengths
    levels = _fit_levels(evidence, evidence.levels, weights, totals)
    return np.asarray(levels.shares @ levels.fits)


def fit_gradient(evidence: Evidence, weights: Floats, totals: Floats, pulls: Floats) -> Floats:
    """Σ_p pull_p·∂fit_p/∂m̃_k for each group, where m_k = exp(m̃_k) / Σ_j exp(m̃_j).

    With R_k the mean responsibility of component k of level l for its units, and f_l the fit of the level,

        ∂fit/∂m̃_k = s_l·(R_k - m_k/s_l) + m_k·(f_l - fit)

    which is R_k - m_k if there is one level. A level without any unit in the query has the fit 0.
    """
    if evidence.levels is None:
        gradient = responsibilities(evidence, weights, totals, pulls)
        gradient -= weights * np.bincount(evidence.groups, pulls, len(weights))[:, None]
        return gradient
    components, pairs = evidence.levels.components, evidence.pair_of_row
    levels = _fit_levels(evidence, evidence.levels, weights, totals)
    scales = pulls * levels.shares[:, None] / np.maximum(levels.lengths, MIN_PROBABILITY)
    summed = (evidence.counts * scales[evidence.levels.rows, pairs] / totals) @ evidence.probabilities
    pulled = (levels.lengths > 0) @ pulls
    drift = (levels.fits - levels.shares @ levels.fits) @ pulls
    return np.asarray(weights * (summed - pulled[components] + drift[components]))


class _LevelFits(NamedTuple):
    """s_l of each level; its fit to each pair, (1/|Q_l|)·Σ ln P of its units; and |Q_l|."""

    shares: Floats
    fits: Floats
    lengths: Floats


def _fit_levels(evidence: Evidence, levels: Levels, weights: Floats, totals: Floats) -> _LevelFits:
    n_levels = int(np.max(levels.components)) + 1
    shares = np.asarray(np.bincount(levels.components, weights[0], n_levels), np.float64)
    cells = levels.rows * evidence.n_pairs + evidence.pair_of_row
    n_cells, shape = n_levels * evidence.n_pairs, (n_levels, evidence.n_pairs)
    lengths = np.asarray(np.bincount(cells, evidence.counts, n_cells), np.float64).reshape(shape)
    sums = np.bincount(cells, evidence.counts * np.log(totals / shares[levels.rows]), n_cells).reshape(shape)
    return _LevelFits(shares, np.asarray(sums / np.where(lengths > 0, lengths, 1.0)), lengths)


def responsibilities(evidence: Evidence, weights: Floats, totals: Floats, scales: Floats) -> Floats:
    """The scaled responsibility of each component in each group: Σ_p scale_p·(1/|Q|)·Σ_n m_k·P_k / Σ_j m_j·P_j.

    `totals` are the sums Σ_j m_j·P_j of each row. A row of the result sums to Σ_p scale_p.
    """
    shares = evidence.counts * (scales / evidence.lengths)[evidence.pair_of_row] / totals
    if len(weights) == 1:
        return np.asarray((shares @ evidence.probabilities) * weights)
    # Most rows and most groups have scale 0: only the others are summed, group by group.
    order = evidence.rows_by_group
    rows = order[shares[order] != 0]
    groups = evidence.group_of_row[rows]
    begins = np.flatnonzero(np.diff(groups, prepend=-1))
    summed = np.zeros_like(weights)
    if len(begins):
        scaled = evidence.probabilities[rows] * shares[rows, None]
        summed[groups[begins]] = np.add.reduceat(scaled, begins, axis=0)
    return np.asarray(summed * weights)


def check_weights(weights: npt.ArrayLike, n_components: int, what: str = "weights") -> Floats:
    """Weights as an array, a row for each group; refuses negative weights and rows that do not sum to 1."""
    rows = np.atleast_2d(np.asarray(weights, np.float64))
    if rows.ndim != 2 or rows.shape[1] != n_components:
        raise SettingError(f"{what}: {rows.shape[-1]} numbers, expected {n_components}")
    wrong = ~np.isfinite(rows) | (rows < 0)
    if wrong.any():
        raise SettingError(f"{what}: {float(rows[wrong][0]):g}, expected numbers from 0")
    sums = rows.sum(axis=1)
    off = np.abs(sums - 1) > ROUNDING
    if off.any():
        raise SettingError(f"{what}: the sum is {float(sums[off][0]):.6g}, expected 1")
    return np.asarray(rows / sums[:, None])


def raise_to_minimum(weights: Floats, least: float) -> Floats:
    """Weights raised to `least` and normalised, because a weight of 0 could never grow again, and would not smooth."""
    raised = np.maximum(weights, least)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def sum_segments(numbers: npt.NDArray[np.float64], offsets: Ints) -> Floats:
    """The sums of numbers[offsets[i]:offsets[i + 1]]; no segment is empty."""
    return np.add.reduceat(numbers, offsets[:-1], axis=0) if len(offsets) > 1 else numbers[:0]


def _check_offsets(name: str, offsets: Ints, n_segments: int, n_items: int) -> None:
    bounds = offsets.tolist()
    is_increasing = all(begin < end for begin, end in pairwise(bounds))
    if len(bounds) != n_segments + 1 or bounds[0] != 0 or bounds[-1] != n_items or not is_increasing:
        raise SettingError(f"evidence: the {name} offsets do not increase from 0 to {n_items} in {n_segments} steps")
