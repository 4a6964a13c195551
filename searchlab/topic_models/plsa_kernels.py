"""Compiled loops of PLSA's EM over the nonzero counts.

Each count takes K products and one logarithm, and no array of documents × words × latent topics is made. Sums are
formed in the order of documents, so every run gives the same numbers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.types import Array

compiled = njit(cache=True, nogil=True, error_model="numpy")


@compiled  # type: ignore[untyped-decorator]
def expect_and_maximise(
    starts: Array, terms: Array, counts: Array, of_docs: Array, of_terms: Array, sums: Array
) -> None:
    """One iteration of EM: P(T|D) is replaced in place, and Σ n·P(T|D,w) over documents is added to `sums`.

    Document d has the terms[starts[d]:starts[d + 1]] with the `counts` at the same positions. A document without terms
    is left unchanged; a count that no latent topic explains is skipped.
    """
    n_topics = of_docs.shape[1]
    joint = np.empty(n_topics)
    sums_of_doc = np.empty(n_topics)
    for doc in range(len(starts) - 1):
        sums_of_doc[:] = 0.0
        explained = 0.0
        for position in range(starts[doc], starts[doc + 1]):
            term = terms[position]
            total = 0.0
            for k in range(n_topics):
                joint[k] = of_docs[doc, k] * of_terms[term, k]
                total += joint[k]
            if total <= 0.0:
                continue
            explained += counts[position]
            scale = counts[position] / total
            for k in range(n_topics):
                share = joint[k] * scale
                sums_of_doc[k] += share
                sums[term, k] += share
        if explained > 0.0:
            for k in range(n_topics):
                of_docs[doc, k] = sums_of_doc[k] / explained


@compiled  # type: ignore[untyped-decorator]
def fold_in_documents(
    starts: Array,
    terms: Array,
    counts: Array,
    of_docs: Array,
    of_terms: Array,
    power: float,
    iterations: int,
    tolerance: float,
) -> None:
    """EM for P(T|D) alone, in place: for each document, until no share changes by more than `tolerance`.

    `of_terms` is P(w|T) raised to `power` already; P(T|D) is raised here.
    """
    n_topics = of_docs.shape[1]
    joint = np.empty(n_topics)
    raised = np.empty(n_topics)
    sums_of_doc = np.empty(n_topics)
    for doc in range(len(starts) - 1):
        for _ in range(iterations):
            sums_of_doc[:] = 0.0
            for k in range(n_topics):
                raised[k] = of_docs[doc, k] ** power
            explained = 0.0
            for position in range(starts[doc], starts[doc + 1]):
                term = terms[position]
                total = 0.0
                for k in range(n_topics):
                    joint[k] = raised[k] * of_terms[term, k]
                    total += joint[k]
                if total <= 0.0:
                    continue
                explained += counts[position]
                scale = counts[position] / total
                for k in range(n_topics):
                    sums_of_doc[k] += joint[k] * scale
            if explained <= 0.0:
                break
            largest_change = 0.0
            for k in range(n_topics):
                share = sums_of_doc[k] / explained
                largest_change = max(largest_change, abs(share - of_docs[doc, k]))
                of_docs[doc, k] = share
            if largest_change <= tolerance:
                break


@compiled  # type: ignore[untyped-decorator]
def log_likelihood(starts: Array, terms: Array, counts: Array, of_docs: Array, of_terms: Array) -> tuple[float, float]:
    """Σ n·ln P(w|D) over the counts that some latent topic explains, and the sum of these counts."""
    likelihood = 0.0
    explained = 0.0
    for doc in range(len(starts) - 1):
        for position in range(starts[doc], starts[doc + 1]):
            total = 0.0
            for k in range(of_docs.shape[1]):
                total += of_docs[doc, k] * of_terms[terms[position], k]
            if total > 0.0:
                likelihood += counts[position] * np.log(total)
                explained += counts[position]
    return likelihood, explained
