"""Where are the words of a million lines?

One compiled pass over a file of columns: it copies the docnos, a line each, reads numbers of few digits and marks where
the others stand, and notes at which lines the first word, the qid, is another than before. The file must end with a
line end. What is not plain (control characters, bytes that are not ASCII, another number of words) ends the pass.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.types import Array

# So many digits make a whole number that a float64 holds exactly, as it does 10^n up to n = 22: their quotient is the
# float64 nearest to the decimal (Clinger 1990).
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
    """Fill `docnos`, and a column of `marks` and a number for each line; counts lines and bytes of docnos.

    A line whose qid is that of the line before has its QID_END at 0. A number that is not read is NaN. The count of
    lines is -1 if one is not plain.
    """
    row, place, n_bytes = 0, 0, 0
    qid, qid_end = 0, 0
    while place < len(text):
        column = 0
        while True:
            while text[place] == 32 or text[place] == 9:
                place += 1
            if text[place] == 13 and text[place + 1] == 10:
                place += 1
            if text[place] == 10:
                break
            begin = place
            while 32 < text[place] < 127:
                place += 1
            if place == begin:
                return -1, 0
            if column == 0:
                same = place - begin == qid_end - qid and row > 0
                if same:
                    for k in range(place - begin):
                        if text[begin + k] != text[qid + k]:
                            same = False
                            break
                qid, qid_end = begin, place
                marks[QID, row] = begin
                marks[QID_END, row] = 0 if same else place
            elif column == docno_column:
                for k in range(begin, place + 1):
                    docnos[n_bytes] = text[k]
                    n_bytes += 1
                docnos[n_bytes - 1] = 10
            if column == number_column:
                marks[NUMBER, row] = begin
                marks[NUMBER_END, row] = place
                numbers[row] = parse_short_number(text, begin, place, whole)
            column += 1
        if column != n_columns:
            return -1, 0
        place += 1
        row += 1
    return row, n_bytes


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def parse_short_number(text: Array, begin: int, end: int, whole: bool) -> float:
    """The number of a few digits, with or without sign and, unless it must be whole, point; or NaN."""
    most = MAX_WHOLE_DIGITS if whole else MAX_DIGITS
    negative = text[begin] == 45
    place = begin + 1 if negative or text[begin] == 43 else begin
    digits = np.int64(0)
    n_digits, point = 0, -1
    while place < end:
        if 48 <= text[place] <= 57:
            digits = digits * np.int64(10) + np.int64(text[place]) - np.int64(48)
            n_digits += 1
        elif text[place] == 46 and point < 0 and not whole:
            point = n_digits
        else:
            return np.nan
        if n_digits > most:
            return np.nan
        place += 1
    if n_digits == 0:
        return np.nan
    value = digits / POWERS[n_digits - point] if point >= 0 else float(digits)
    return -value if negative else value
