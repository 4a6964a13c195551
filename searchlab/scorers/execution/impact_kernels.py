"""Impact codes: a byte for each posting that bounds its gain, computed when a term is first searched.

A gain g of a term whose largest gain is m has the code ⌈255·g/m⌉, at least 1: g lies between (code - 1)·m/255 and
code·m/255 (quantised impacts: Anh, de Kretser, Moffat, SIGIR 2001). The top-k kernel reads codes instead of frequencies
and norms: bytes in a row, where the norm of a document would be somewhere in memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.scorers.execution.posting_cache import MAX_ROW_TF
from searchlab.scorers.gains import gain

MAX_CODE = 255
# More than a gain can change by rounding.
ROUND_UP = 1.0 + 1e-12

compiled = njit(cache=True, nogil=True, error_model="numpy")
_gain = compiled(gain)


@compiled
def fill_codes(docs, tfs, norm_table, norm_codes, formula, codes):  # type: ignore[no-untyped-def]
    """Fill in the codes of a term's postings; returns its largest gain, and how many postings have each code."""
    gains = np.empty(len(docs))
    largest = 0.0
    for p in range(len(docs)):
        norm = norm_table[norm_codes[docs[p]]]
        gains[p] = _gain(formula.shape, np.float64(tfs[p]), formula.weight, formula.factor, norm, formula.shift)
        largest = max(largest, gains[p])
    largest *= ROUND_UP
    counts = np.zeros(MAX_CODE + 1, np.int64)
    per_code = MAX_CODE / largest if largest > 0.0 else 0.0
    for p in range(len(docs)):
        code = min(max(int(np.ceil(gains[p] * per_code * ROUND_UP)), 1), MAX_CODE)
        codes[p] = code
        counts[code] += 1
    return largest, counts


@compiled
def fill_rows(docs, tfs, codes, code_row, tf_row):  # type: ignore[no-untyped-def]
    """Fill in the code and the frequency of every document that has a term."""
    for p in range(len(docs)):
        tf = min(tfs[p], MAX_ROW_TF)
        if tf != int(tf):
            tf = MAX_ROW_TF
        code_row[docs[p]] = codes[p]
        tf_row[docs[p]] = tf
