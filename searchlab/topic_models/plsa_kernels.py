"""How do topics explain counts, quickly?

The loops of PLSA's EM over the counts that are not 0, compiled: for each, K products and one logarithm, and no array
of documents × words × topics. Sums are formed in the order of documents, so every run gives the same numbers.
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

    Document d has the terms[starts[d]:starts[d + 1]], so often as `counts` says. A document without any keeps what it
    has; a count that no topic explains is passed over.
    """
    n_topics = of_docs.shape[1]
    joint = np.empty(n_topics)
    own = np.empty(n_topics)
    for doc in range(len(starts) - 1):
        own[:] = 0.0
        explained = 0.0
        for place in range(starts[doc], starts[doc + 1]):
            term = terms[place]
            total = 0.0
            for k in range(n_topics):
                joint[k] = of_docs[doc, k] * of_terms[term, k]
                total += joint[k]
            if total <= 0.0:
                continue
            explained += counts[place]
            scale = counts[place] / total
            for k in range(n_topics):
                share = joint[k] * scale
                own[k] += share
                sums[term, k] += share
        if explained > 0.0:
            for k in range(n_topics):
                of_docs[doc, k] = own[k] / explained


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
    """EM for P(T|D) alone, in place: each document by itself, until no share moves by more than `tolerance`.

    `of_terms` has been raised to `power`, as P(T|D) is here.
    """
    n_topics = of_docs.shape[1]
    joint = np.empty(n_topics)
    raised = np.empty(n_topics)
    own = np.empty(n_topics)
    for doc in range(len(starts) - 1):
        for _ in range(iterations):
            own[:] = 0.0
            for k in range(n_topics):
                raised[k] = of_docs[doc, k] ** power
            explained = 0.0
            for place in range(starts[doc], starts[doc + 1]):
                term = terms[place]
                total = 0.0
                for k in range(n_topics):
                    joint[k] = raised[k] * of_terms[term, k]
                    total += joint[k]
                if total <= 0.0:
                    continue
                explained += counts[place]
                scale = counts[place] / total
                for k in range(n_topics):
                    own[k] += joint[k] * scale
            if explained <= 0.0:
                break
            moved = 0.0
            for k in range(n_topics):
                share = own[k] / explained
                moved = max(moved, abs(share - of_docs[doc, k]))
                of_docs[doc, k] = share
            if moved <= tolerance:
                break


@compiled  # type: ignore[untyped-decorator]
def log_likelihood(starts: Array, terms: Array, counts: Array, of_docs: Array, of_terms: Array) -> tuple[float, float]:
    """Σ n·ln P(w|D) over the counts that some topic explains, and how many these are."""
    likelihood = 0.0
    explained = 0.0
    for doc in range(len(starts) - 1):
        for place in range(starts[doc], starts[doc + 1]):
            total = 0.0
            for k in range(of_docs.shape[1]):
                total += of_docs[doc, k] * of_terms[terms[place], k]
            if total > 0.0:
                likelihood += counts[place] * np.log(total)
                explained += counts[place]
    return likelihood, explained
