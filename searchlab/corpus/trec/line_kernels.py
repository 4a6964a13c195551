"""Compiled pass over the columns of a large file.

It copies the docnos, one a line, parses numbers of few digits and marks where the others are, and marks the lines at
which the first column, the qid, changes. The file must end with a line end. The pass stops at anything irregular
(control characters, bytes that are not ASCII, another number of columns).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.types import Array

# A whole number of this many digits is exact in float64, and so is 10^n up to n = 22: their quotient is the float64
# nearest to the decimal (Clinger 1990).
MAX_DIGITS = 15
MAX_WHOLE_DIGITS = 9
POWERS = np.array([float(10**exponent) for exponent in range(MAX_DIGITS + 1)])

NUMBER, NUMBER_END, QID, QID_END, N_MARKS = range(5)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def mark_lines(
    text: Array,
    n_columns: int,
    docno_column: int,
    number_column: int,
    whole: bool,
    marks: Array,
    numbers: Array,
    docnos: Array,
) -> tuple[int, int]:
    """Fill `docnos`, and a column of `marks` and a number for each line; returns the numbers of lines and docno bytes.

    A line with the same qid as the line before has QID_END 0. A number that is not parsed is NaN. The number of lines
    is -1 if one is irregular.
    """
    row, position, n_bytes = 0, 0, 0
    qid, qid_end = 0, 0
    while position < len(text):
        column = 0
        while True:
            while text[position] == 32 or text[position] == 9:
                position += 1
            if text[position] == 13 and text[position + 1] == 10:
                position += 1
            if text[position] == 10:
                break
            begin = position
            while 32 < text[position] < 127:
                position += 1
            if position == begin:
                return -1, 0
            if column == 0:
                same = position - begin == qid_end - qid and row > 0
                if same:
                    for k in range(position - begin):
                        if text[begin + k] != text[qid + k]:
                            same = False
                            break
                qid, qid_end = begin, position
                marks[QID, row] = begin
                marks[QID_END, row] = 0 if same else position
            elif column == docno_column:
                for k in range(begin, position + 1):
                    docnos[n_bytes] = text[k]
                    n_bytes += 1
                docnos[n_bytes - 1] = 10
            if column == number_column:
                marks[NUMBER, row] = begin
                marks[NUMBER_END, row] = position
                numbers[row] = parse_short_number(text, begin, position, whole)
            column += 1
        if column != n_columns:
            return -1, 0
        position += 1
        row += 1
    return row, n_bytes


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def parse_short_number(text: Array, begin: int, end: int, whole: bool) -> float:
    """A number of few digits, with or without a sign and, unless `whole`, a point; NaN for anything else."""
    max_digits = MAX_WHOLE_DIGITS if whole else MAX_DIGITS
    negative = text[begin] == 45
    position = begin + 1 if negative or text[begin] == 43 else begin
    digits = np.int64(0)
    n_digits, point = 0, -1
    while position < end:
        if 48 <= text[position] <= 57:
            digits = digits * np.int64(10) + np.int64(text[position]) - np.int64(48)
            n_digits += 1
        elif text[position] == 46 and point < 0 and not whole:
            point = n_digits
        else:
            return np.nan
        if n_digits > max_digits:
            return np.nan
        position += 1
    if n_digits == 0:
        return np.nan
    value = digits / POWERS[n_digits - point] if point >= 0 else float(digits)
    return -value if negative else value
