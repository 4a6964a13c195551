"""Top-k kernels: the best documents of an index for a query, without scoring them all.

Every posting has an impact code, a byte that bounds its gain from above (`scorers/execution/impact_kernels.py`). The
documents are gone through in windows that fit the processor's cache, in two phases:

1. **Candidates.** A table for each term of the query turns codes into whole numbers; their sum bounds the score of a
   document from above. A histogram of these sums gives a score that at least k documents reach: the threshold. Terms
   whose largest gains together stay below the threshold are not *essential*: their postings need not be read, they can
   be looked up for documents that have an essential term, as long as the document can still reach the threshold
   (MaxScore: Turtle, Flood 1995; over windows and quantised impacts: Anh, Moffat 2006). In long queries nearly every
   document has an essential term: terms with fewer postings than there are documents to look up are read as well.
2. **Scores.** Candidates whose bound reaches the final threshold are scored in double precision. Gains are added in the
   order of the plan: a document has the same score to the last bit, whichever way it was found.

The result is exact. Codes and tables round up: no sum is below the score, both measured from the lowest possible score.
`Bounds.slack` is more than all that is rounded: if k documents have sums of s or more, their scores are at least
s - slack, and a document whose sum is below that is neither among the k best nor equal to the last of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from searchlab.scorers.execution.posting_cache import MAX_ROW_TF, WINDOW_SIZE
from searchlab.scorers.gains import SATURATION, gain
from searchlab.types import Array

# The largest possible score is this number, measured from the lowest one.
TOTAL = 1 << 22
BUCKET_SHIFT = 10
N_BUCKETS = (TOTAL >> BUCKET_SHIFT) + 1
N_CODES = 256
# The number of postings that can be read in the time in which one document is searched for in them.
SEARCH_COST = 12
# If more postings of a window are read, all its sums are gone through, in blocks, instead of those of the postings.
MIN_SCANNED_POSTINGS = WINDOW_SIZE // 2
# The sums of a block are compared by one instruction.
SCANNED_BLOCK = 16
# A term that is read but not essential is looked up again once it has this many times as many postings as lookups.
LOOKUP_HYSTERESIS = 8
# Sums of doubles in another order differ by less than this, relative to the scores.
ROUNDING_MARGIN = 1e-9

# Divisors are positive by construction; checking each for 0 would take a tenth of the time.
compiled = njit(cache=True, nogil=True, error_model="numpy")
_gain = compiled(gain)


class Scratch(NamedTuple):
    """Working memory for one thread: allocating it for each query can take longer than the search."""

    sums: Array
    slots: Array
    frequencies: Array
    window_codes: Array
    window_docs: Array
    window_sums: Array
    found_docs: Array
    found_sums: Array
    histogram: Array

    @classmethod
    def make(cls, n_docs: int) -> Scratch:
        """Memory for an index of n_docs documents."""
        return cls(
            np.zeros(WINDOW_SIZE, np.uint32),
            np.zeros(WINDOW_SIZE, np.uint16),
            np.empty(WINDOW_SIZE + 1),
            np.zeros(WINDOW_SIZE, np.uint8),
            np.empty(WINDOW_SIZE + 1, np.uint16),
            np.empty(WINDOW_SIZE + 1, np.uint32),
            np.empty(n_docs + 1, np.uint32),
            np.empty(n_docs + 1, np.uint32),
            np.zeros(N_BUCKETS, np.int32),
        )


class Bounds(NamedTuple):
    """Upper bounds of what terms add to scores, as whole numbers; the last terms cease to be essential first.

    `terms[i]` is the position of a term in the plan. tables[i, code] bounds its gain, reach[i] the sum of its gain and
    those of all terms behind it. bias_table[code] bounds what a document gets by its bias.
    """

    terms: Array
    tables: Array
    reach: Array
    bias_table: Array
    slack: int
    threshold: int


@compiled
def best_documents(postings, norms, query, k, scratch):  # type: ignore[no-untyped-def]
    """The documents that can be among the k best, with their scores: all of the k best, and some more."""
    bounds = _make_bounds(norms, query)
    found, threshold = _find_candidates(postings, norms, query, bounds, k, scratch)
    n_best = 0
    for i in range(found):
        scratch.found_docs[n_best] = scratch.found_docs[i]
        n_best += np.int64(scratch.found_sums[i]) >= threshold
    docs = scratch.found_docs[:n_best].astype(np.int64)
    return docs, _score(postings, norms, query, docs, scratch)


@compiled
def _make_bounds(norms, query):  # type: ignore[no-untyped-def]
    """The bounds of a query's terms as whole numbers, and a first threshold, from single terms."""
    n_terms = len(query.spans)
    bias_range = query.n_words * (norms.max_bias - norms.min_bias)
    lowest = query.background + query.n_words * norms.min_bias
    gains = query.numbers[:, 2].sum()
    scale = TOTAL / max(gains + bias_range, 1e-300)
    slack = 2.0 + ROUNDING_MARGIN * scale * (abs(lowest) + gains + bias_range)

    # Greedily, as many postings as possible are left unread: those that cost the least bound each come last.
    costs = np.empty(n_terms)
    for t in range(n_terms):
        costs[t] = -query.numbers[t, 2] / max(query.spans[t, 1] - query.spans[t, 0], 1)
    terms = np.argsort(costs)

    tables = np.zeros((n_terms, N_CODES), np.uint32)
    reach = np.zeros(n_terms + 1, np.int64)
    threshold = 0.0
    for i in range(n_terms - 1, -1, -1):
        _fill_table(tables[i], scale * query.numbers[terms[i], 2])
        reach[i] = reach[i + 1] + tables[i, N_CODES - 1]
        slack += scale * query.numbers[terms[i], 2] / (N_CODES - 1) + 2.0
        threshold = max(threshold, scale * query.numbers[terms[i], 3])
    bias_table = np.zeros(N_CODES, np.uint32)
    if bias_range > 0.0:
        _fill_table(bias_table, scale * bias_range)
        slack += scale * bias_range / (N_CODES - 1) + 2.0
    rounded = int(min(slack, 2.0 * TOTAL)) + 1
    return Bounds(terms, tables, reach, bias_table, rounded, int(threshold) - rounded)


@compiled
def _fill_table(table, highest):  # type: ignore[no-untyped-def]
    """For each code an upper bound of what it stands for; `highest` is the largest; nothing has the code 0."""
    for code in range(1, len(table)):
        table[code] = np.uint32(highest * code / (len(table) - 1)) + np.uint32(1)


@compiled
def _find_candidates(postings, norms, query, bounds, k, scratch):  # type: ignore[no-untyped-def]
    """The number of documents found, whose bounds are in `scratch`, and the final threshold."""
    docs, codes, windows, spans = postings.docs, postings.codes, postings.windows, query.spans
    histogram = scratch.histogram
    tables, reach, threshold = bounds.tables, bounds.reach, bounds.threshold
    top_bias = np.int64(bounds.bias_table[N_CODES - 1])
    n_terms = len(tables)
    places = spans[:, 3][bounds.terms]
    histogram[:] = 0
    # `above` counts the documents found in bucket `edge` and over it. The first `n_read` terms are read, `n_extra`
    # more than are essential; `n_looked_up` documents of the last window were looked up in the others.
    edge, above, essential, found, n_extra, n_looked_up = 0, 0, n_terms, 0, 0, 0
    for window in range(windows.shape[1]):
        while above - histogram[edge] >= k:
            above -= histogram[edge]
            edge += 1
        if above >= k:
            threshold = max(threshold, (edge << BUCKET_SHIFT) - bounds.slack)
        while essential > 0 and reach[essential - 1] + top_bias < threshold:
            essential -= 1
        if essential == 0 or window == windows.shape[1] - 1:
            break
        n_read = _count_read_terms(windows, places, window, essential, n_extra, n_looked_up)
        n_extra = n_read - essential
        needed = max(threshold - reach[n_read] - top_bias, 1)
        n_postings = 0
        for i in range(n_read):
            start, stop = windows[places[i], window], windows[places[i], window + 1]
            _add_impacts(docs, codes, start, stop, tables[i], scratch.sums)
            n_postings += stop - start
        n = 0
        if n_postings > MIN_SCANNED_POSTINGS:
            n = _scan(needed, scratch)
        else:
            for i in range(n_read):
                n = _collect(docs, windows[places[i], window], windows[places[i], window + 1], needed, n, scratch)
        n_looked_up = n
        base = window * WINDOW_SIZE
        if top_bias > 0 and n:
            bias_codes = norms.bias_codes[base : base + WINDOW_SIZE]
            n = _add_by_row(bias_codes, bounds.bias_table, threshold - reach[n_read], n, scratch)
        for i in range(n_read, n_terms):
            if n == 0:
                break
            needed = threshold - reach[i + 1]
            row = spans[bounds.terms[i], 2]
            if row >= 0:
                code_row = postings.code_rows[row, base : base + WINDOW_SIZE]
                n = _add_by_row(code_row, tables[i], needed, n, scratch)
            else:
                start, stop = windows[places[i], window], windows[places[i], window + 1]
                n = _add_by_search(docs, codes, start, stop, tables[i], needed, n, scratch)
        for c in range(n):
            scratch.found_docs[found] = base + scratch.window_docs[c]
            scratch.found_sums[found] = scratch.window_sums[c]
            found += 1
            bucket = _bucket(scratch.window_sums[c])
            histogram[bucket] += 1
            above += bucket >= edge
    return found, threshold


@compiled
def _bucket(total):  # type: ignore[no-untyped-def]
    """The bucket of a sum in the histogram; many terms, each rounded up, can exceed the last one."""
    return min(np.int64(total) >> BUCKET_SHIFT, N_BUCKETS - 1)


@compiled
def _count_read_terms(windows, places, window, essential, n_extra, n_looked_up):  # type: ignore[no-untyped-def]
    """The number of terms whose postings in a window are read, the essential ones first.

    Reading a posting costs about as much as looking up a document. The documents to be looked up are estimated by those
    of the last window; each further term that is read is taken to leave half of them.
    """
    n_read = min(essential + n_extra, len(places))
    if n_extra > 0:
        last = places[n_read - 1]
        if windows[last, window + 1] - windows[last, window] > LOOKUP_HYSTERESIS * n_looked_up:
            return n_read - 1
    while n_read < len(places) and windows[places[n_read], window + 1] - windows[places[n_read], window] < n_looked_up:
        n_read += 1
        n_looked_up //= 2
    return n_read


@compiled
def _add_impacts(docs, codes, start, stop, table, sums):  # type: ignore[no-untyped-def]
    """Add a term's bounds to the sums of a window's documents."""
    for p in range(start, stop):
        sums[docs[p]] += table[codes[p]]


@compiled
def _collect(docs, start, stop, needed, n, scratch):  # type: ignore[no-untyped-def]
    """Append the documents of a range of postings whose sums are at least `needed`, and clear the sums.

    Each is stored, and overwritten by the next one if it falls short: an unpredictable branch would cost more.
    """
    sums, window_docs, window_sums = scratch.sums, scratch.window_docs, scratch.window_sums
    for p in range(start, stop):
        doc = docs[p]
        window_docs[n] = doc
        window_sums[n] = sums[doc]
        n += np.int64(sums[doc]) >= needed
        sums[doc] = 0
    return n


@compiled
def _scan(needed, scratch):  # type: ignore[no-untyped-def]
    """The same for all documents of the window: blocks without such a sum are skipped."""
    sums, window_docs, window_sums = scratch.sums, scratch.window_docs, scratch.window_sums
    n = 0
    for begin in range(np.uint64(0), np.uint64(WINDOW_SIZE), np.uint64(SCANNED_BLOCK)):
        largest = np.uint32(0)
        for i in range(SCANNED_BLOCK):
            largest = max(largest, sums[begin + np.uint64(i)])
        if np.int64(largest) < needed:
            continue
        for doc in range(begin, begin + np.uint64(SCANNED_BLOCK)):
            window_docs[n] = doc
            window_sums[n] = sums[doc]
            n += np.int64(sums[doc]) >= needed
    sums[:] = 0
    return n


@compiled
def _add_by_row(row, table, needed, n, scratch):  # type: ignore[no-untyped-def]
    """Add a term's bounds to the candidates, by its row in the window; keep those with at least `needed`."""
    window_docs, window_sums = scratch.window_docs, scratch.window_sums
    kept = 0
    for c in range(n):
        doc = window_docs[c]
        total = np.int64(window_sums[c]) + np.int64(table[row[doc]])
        window_docs[kept] = doc
        window_sums[kept] = total
        kept += total >= needed
    return kept


@compiled
def _add_by_search(docs, codes, start, stop, table, needed, n, scratch):  # type: ignore[no-untyped-def]
    """The same for a term without such a row, from its postings in the window."""
    window_docs, window_sums, window_codes = scratch.window_docs, scratch.window_sums, scratch.window_codes
    many = n * SEARCH_COST > stop - start
    if many:
        for p in range(start, stop):
            window_codes[docs[p]] = codes[p]
    kept = 0
    for c in range(n):
        doc = window_docs[c]
        total = np.int64(window_sums[c])
        if many:
            total += np.int64(table[window_codes[doc]])
        else:
            p = _search(docs, start, stop, doc)
            if p < stop and docs[p] == doc:
                total += np.int64(table[codes[p]])
        window_docs[kept] = doc
        window_sums[kept] = total
        kept += total >= needed
    if many:
        for p in range(start, stop):
            window_codes[docs[p]] = 0
    return kept


@compiled
def _score(postings, norms, query, found, scratch):  # type: ignore[no-untyped-def]
    """The scores of documents that are grouped by window, windows ascending."""
    scores = np.zeros(len(found))
    found_norms = np.empty(len(found))
    for i in range(len(found)):
        found_norms[i] = norms.norm_table[norms.norm_codes[found[i]]]
    slots = scratch.slots
    begin = 0
    while begin < len(found):
        window = found[begin] // WINDOW_SIZE
        base = window * WINDOW_SIZE
        end = begin
        while end < len(found) and found[end] < base + WINDOW_SIZE:
            slots[found[end] - base] = end - begin + 1
            end += 1
        for t in range(len(query.spans)):
            start, stop = _window_of(postings, query.spans[t], window)
            if stop - start < end - begin:
                _add_few_gains(postings, query, t, start, stop, found_norms[begin:end], scores[begin:end], slots)
            else:
                _find_frequencies(postings, query.spans[t], start, stop, base, found[begin:end], scratch)
                _add_gains(query, t, scratch.frequencies, found_norms[begin:end], scores[begin:end])
        for i in range(begin, end):
            slots[found[i] - base] = 0
        begin = end
    has_bias = len(norms.biases) > 0
    for i in range(len(found)):
        scores[i] += query.background
        if has_bias:
            scores[i] += query.n_words * norms.biases[found[i]]
    return scores


@compiled
def _window_of(postings, span, window):  # type: ignore[no-untyped-def]
    """Where the postings of a term in a window begin and end."""
    return postings.windows[span[3], window], postings.windows[span[3], window + 1]


@compiled
def _add_few_gains(postings, query, t, start, stop, norms, scores, slots):  # type: ignore[no-untyped-def]
    """Add the gains of a term to the scores of the documents with slots, posting by posting."""
    weight, factor = query.numbers[t, 0], query.numbers[t, 1]
    for p in range(start, stop):
        slot = slots[postings.docs[p]]
        if slot:
            tf = np.float64(postings.tfs[p])
            scores[slot - 1] += _gain(query.shape, tf, weight, factor, norms[slot - 1], query.shift)


@compiled
def _find_frequencies(postings, span, start, stop, base, found, scratch):  # type: ignore[no-untyped-def]
    """The frequencies of a term in documents of a window, 0 where it does not occur; the first is at position 1."""
    docs, tfs, frequencies, slots = postings.docs, postings.tfs, scratch.frequencies, scratch.slots
    row = span[2]
    if row >= 0:
        tf_row = postings.tf_rows[row]
        for i in range(len(found)):
            frequencies[i + 1] = tf_row[found[i]]
        for i in range(len(found)):
            if frequencies[i + 1] == MAX_ROW_TF:
                frequencies[i + 1] = tfs[_search(docs, start, stop, found[i] - base)]
        return
    frequencies[1 : len(found) + 1] = 0.0
    if len(found) * SEARCH_COST < stop - start:
        for i in range(len(found)):
            p = _search(docs, start, stop, found[i] - base)
            if p < stop and docs[p] == found[i] - base:
                frequencies[i + 1] = tfs[p]
        return
    for p in range(start, stop):
        frequencies[slots[docs[p]]] = tfs[p]  # those of other documents go to position 0


@compiled
def _add_gains(query, t, frequencies, norms, scores):  # type: ignore[no-untyped-def]
    """Add the gains of a term to scores; a frequency of 0 gains nothing."""
    weight, factor, shape, shift = query.numbers[t, 0], query.numbers[t, 1], query.shape, query.shift
    if shape == SATURATION:  # which is 0 for 0: without a branch, several are computed at once
        for i in range(len(scores)):
            scores[i] += _gain(SATURATION, frequencies[i + 1], weight, factor, norms[i], shift)
    else:
        for i in range(len(scores)):
            if frequencies[i + 1] > 0.0:
                scores[i] += _gain(shape, frequencies[i + 1], weight, factor, norms[i], shift)


@compiled
def _search(docs, start, stop, doc):  # type: ignore[no-untyped-def]
    """The first position in a window's docs[start:stop] that is `doc` or later, by a search without branches."""
    n = stop - start
    while n > 0:
        half = n >> 1
        later = docs[start + half] < doc
        start = start + half + 1 if later else start
        n = n - half - 1 if later else half
    return start
