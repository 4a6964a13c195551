"""Compiled pass over the columns of a large file.

It marks where the docnos are, parses numbers and marks where those are that it leaves to Python, and marks the lines at
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
# Numbers of more digits, up to those of 64 bits, are divided with the remainder (`divide_long`).
MAX_LONG_DIGITS = 19
MAX_WHOLE_DIGITS = 9
MAX_POWER = 22
POWERS = np.array([float(10**exponent) for exponent in range(MAX_POWER + 1)])
# Splits a float64 into two halves of 26 bits (Veltkamp).
SPLITTER = 134217729.0

# The rows of the marks of lines, and of those of topics and unread numbers: a line, and where a text begins and ends.
DOCNO, DOCNO_END = range(2)
LINE, BEGIN, END = range(3)

FIRST_VISIBLE, N_VISIBLE = np.uint64(33), np.uint64(94)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def mark_lines(
    text: Array,
    n_columns: int,
    docno_column: int,
    number_column: int,
    whole: bool,
    docnos: Array,
    numbers: Array,
    topics: Array,
    unread: Array,
) -> tuple[int, int, int]:
    """Fill the columns of `docnos` and `numbers` for each line, of `topics` where the qid changes, of `unread` numbers.

    Returns the numbers of lines, topics and unread numbers; that of lines is -1 if one is irregular.
    """
    row, n_topics, n_unread, position = 0, 0, 0, 0
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
            # Numbers below the first wrap around to large ones.
            while np.uint64(text[position]) - FIRST_VISIBLE < N_VISIBLE:
                position += 1
            if position == begin:
                return -1, 0, 0
            if column == 0:
                k = 0
                length = position - begin
                if length == qid_end - qid:
                    while k < length and text[begin + k] == text[qid + k]:
                        k += 1
                if k < length:
                    topics[LINE, n_topics], topics[BEGIN, n_topics], topics[END, n_topics] = row, begin, position
                    n_topics += 1
                qid, qid_end = begin, position
            elif column == docno_column:
                docnos[DOCNO, row], docnos[DOCNO_END, row] = begin, position
            elif column == number_column:
                numbers[row] = parse_digits(text, begin, position, whole)
                if np.isnan(numbers[row]):
                    unread[LINE, n_unread], unread[BEGIN, n_unread], unread[END, n_unread] = row, begin, position
                    n_unread += 1
            column += 1
        if column != n_columns:
            return -1, 0, 0
        position += 1
        row += 1
    return row, n_topics, n_unread


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def parse_digits(text: Array, begin: int, end: int, whole: bool) -> float:
    """A number with or without a sign and, unless `whole`, a point; NaN for what is left to Python."""
    negative = text[begin] == 45
    position = begin + 1 if negative or text[begin] == 43 else begin
    digits = np.uint64(0)
    # All digits, and those without leading zeros.
    n_digits, n_significant, point = 0, 0, -1
    while position < end:
        digit = np.uint64(text[position]) - np.uint64(48)
        if digit < np.uint64(10):
            digits = digits * np.uint64(10) + digit
            n_digits += 1
            if n_significant > 0 or digit > np.uint64(0):
                n_significant += 1
        elif text[position] == 46 and point < 0 and not whole:
            point = n_digits
        else:
            return np.nan
        if n_significant > MAX_LONG_DIGITS or (whole and n_digits > MAX_WHOLE_DIGITS):
            return np.nan
        position += 1
    power = n_digits - point if point >= 0 else 0
    if n_digits == 0 or power > MAX_POWER:
        return np.nan
    divisor = float(POWERS[power])
    value = float(digits) / divisor if n_significant <= MAX_DIGITS or power == 0 else divide_long(digits, divisor)
    return -value if negative else value


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def divide_long(digits: np.uint64, divisor: float) -> float:
    """The float64 nearest to a quotient of a whole number of 64 bits; NaN where the remainder does not decide it.

    The quotient q of rounded numbers has the error c = (x - q · divisor + e) / divisor, where x + e = digits. The
    product is exact as a sum of two floats (Dekker 1971), so c has a relative error of a few 2^-53. If q + c rounds to
    the same number with a little more or less, it is the nearest one.
    """
    rounded = float(digits)
    # float64 has no number between 2^64 - 2048 and 2^64, and digits are less than 10^19.
    error = float(np.int64(digits - np.uint64(rounded)))
    quotient = rounded / divisor
    product = quotient * divisor
    q_split, d_split = SPLITTER * quotient, SPLITTER * divisor
    q_high, d_high = q_split - (q_split - quotient), d_split - (d_split - divisor)
    q_low, d_low = quotient - q_high, divisor - d_high
    product_error = ((q_high * d_high - product) + q_high * d_low + q_low * d_high) + q_low * d_low
    correction = (((rounded - product) - product_error) + error) / divisor
    margin = abs(correction) * 2.0**-46
    value = quotient + correction
    return value if quotient + (correction - margin) == quotient + (correction + margin) else np.nan
