"""Compiled parser of LETOR lines: one pass over a block of bytes that ends with a line end.

Numbers are written straight into the table; of words (qids, docnos, comments) only the positions are marked. The pass
stops where Python is needed and returns the reason and the position, from which it can be resumed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.features.letor.decimals import BAD, HARD, read_decimal

# Reasons to stop; a comment that begins with n may be the one with the names of the features.
AT_END, FULL, NAMES_LINE, TOO_NARROW, MALFORMED = range(5)

# Marks of each row: where its words begin and end (-1: there is none, or the qid of the row before), its line.
QID, QID_END, DOCNO, DOCNO_END, COMMENT, COMMENT_END, LINE, N_MARKS = range(8)

# Marks of each number that is left to `float`; the label's column is -1.
HARD_ROW, HARD_COLUMN, HARD_START, HARD_END, N_HARD_MARKS = range(5)

# Facts about all rows so far: whether one left out a feature before its last, the number of features of the first row,
# the first line with another number of them (0: none), that number, the highest feature number, and whether
# a word has bytes that are not printable ASCII.
GAPS, FIRST_COUNT, ODD_LINE, ODD_COUNT, WIDEST, UNUSUAL, N_FACTS = range(7)


@njit(cache=True)  # type: ignore[untyped-decorator]
def parse_rows(text, position, line, values, labels, marks, hard, facts, missing):  # type: ignore[no-untyped-def]
    """Fill rows until `text` ends.

    Returns the reason to stop, the position and line to resume from, the number of rows and of hard numbers. `line` is
    the number of the line at `position`. A feature that `values` has no column for stops the pass before its line, as
    does a malformed line.
    """
    n_rows = 0
    n_hard = 0
    width = values.shape[1]
    previous = np.int64(0)
    previous_end = np.int64(0)
    while position < len(text):
        begin = position
        while is_blank(text[position]):
            position += 1
        if text[position] == 10:
            position += 1
            line += 1
            continue
        if text[position] == 35:
            position += 1
            while is_blank(text[position]):
                position += 1
            if text[position] == 110:
                return NAMES_LINE, begin, line, n_rows, n_hard
            while text[position] != 10:
                position += 1
            position += 1
            line += 1
            continue
        if n_rows == len(labels) or n_hard + width + 1 > len(hard):
            return FULL, begin, line, n_rows, n_hard
        first_hard = n_hard

        kind, labels[n_rows], end = read_decimal(text, position)
        if kind == BAD or not is_blank(text[end]):
            return MALFORMED, begin, line, n_rows, first_hard
        if kind == HARD:
            n_hard = mark_hard(hard, n_hard, n_rows, -1, position, end)
        position = end
        while is_blank(text[position]):
            position += 1

        if not (
            text[position] == 113
            and text[position + 1] == 105
            and text[position + 2] == 100
            and text[position + 3] == 58
        ):
            return MALFORMED, begin, line, n_rows, first_hard
        position += 4
        qid = position
        while not ends_word(text[position]):
            facts[UNUSUAL] |= not 33 <= text[position] <= 126
            position += 1
        if position == qid:
            return MALFORMED, begin, line, n_rows, first_hard
        if same_bytes(text, previous, previous_end, qid, position):
            marks[n_rows, QID] = -1
        else:
            marks[n_rows, QID] = qid
        marks[n_rows, QID_END] = position
        qid_end = position

        last = np.int64(0)
        count = 0
        gaps = False
        while True:
            while is_blank(text[position]):
                position += 1
            if text[position] == 10 or text[position] == 35:
                break
            number = np.int64(0)
            c = np.int64(text[position])
            while 48 <= c <= 57:
                if number < 1_000_000_000:
                    number = np.int64(number * 10 + (c - 48))
                position += 1
                c = np.int64(text[position])
            if c != 58 or number <= last:
                return MALFORMED, begin, line, n_rows, first_hard
            if number > width:
                return TOO_NARROW, begin, line, n_rows, first_hard
            position += 1
            kind, value, end = read_decimal(text, position)
            if kind == BAD:
                value = np.nan
                end = skip_undefined(text, position)
            elif kind == HARD:
                n_hard = mark_hard(hard, n_hard, n_rows, number - 1, position, end)
            if not ends_word(text[end]):
                return MALFORMED, begin, line, n_rows, first_hard
            position = end
            for column in range(last, np.int64(number - 1)):
                values[n_rows, column] = missing
                gaps = True
            values[n_rows, number - 1] = value
            last = number
            count += 1
        for column in range(last, width):
            values[n_rows, column] = missing

        position = mark_comment(text, position, marks[n_rows], facts)
        marks[n_rows, LINE] = line
        if facts[FIRST_COUNT] < 0:
            facts[FIRST_COUNT] = count
        elif facts[FIRST_COUNT] != count and facts[ODD_LINE] == 0:
            facts[ODD_LINE] = line
            facts[ODD_COUNT] = count
        facts[GAPS] |= gaps
        facts[WIDEST] = max(facts[WIDEST], last)
        previous, previous_end = qid, qid_end
        n_rows += 1
        position += 1
        line += 1
    return AT_END, position, line, n_rows, n_hard


@njit(cache=True)  # type: ignore[untyped-decorator]
def is_blank(c):  # type: ignore[no-untyped-def]
    """Whether a byte separates words: a space, a tab, or a carriage return."""
    return c == 32 or c == 9 or c == 13


@njit(cache=True)  # type: ignore[untyped-decorator]
def ends_word(c):  # type: ignore[no-untyped-def]
    """Whether a byte can follow a word: a blank, a line end, the start of a comment."""
    return c == 32 or c == 10 or c == 35 or c == 9 or c == 13


@njit(cache=True)  # type: ignore[untyped-decorator]
def same_bytes(text, start, end, other, other_end):  # type: ignore[no-untyped-def]
    """Whether two ranges of bytes are equal."""
    if end - start != other_end - other:
        return False
    i = 0
    while i < end - start and text[start + i] == text[other + i]:
        i += 1
    return i == end - start


@njit(cache=True)  # type: ignore[untyped-decorator]
def mark_hard(hard, n_hard, row, column, start, end):  # type: ignore[no-untyped-def]
    """Mark a number that is left to Python."""
    hard[n_hard, HARD_ROW] = row
    hard[n_hard, HARD_COLUMN] = column
    hard[n_hard, HARD_START] = start
    hard[n_hard, HARD_END] = end
    return n_hard + 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def skip_undefined(text, position):  # type: ignore[no-untyped-def]
    """Where NULL or NaN ends, in any case; `position` - 1, where no word can end, if it is neither."""
    start = position
    if text[position] == 45 or text[position] == 43:
        position += 1
    if text[position] | 32 != 110:
        return start - 1
    if text[position + 1] | 32 == 97 and text[position + 2] | 32 == 110:
        return position + 3
    if text[position + 1] | 32 == 117 and text[position + 2] | 32 == 108 and text[position + 3] | 32 == 108:
        return position + 4
    return start - 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def mark_comment(text, position, marks, facts):  # type: ignore[no-untyped-def]
    """Mark docno and comment of a row, from a # or the line end on; returns the position of the line end."""
    marks[DOCNO] = marks[DOCNO_END] = marks[COMMENT] = marks[COMMENT_END] = -1
    if text[position] == 10:
        return position
    position += 1
    while is_blank(text[position]):
        position += 1
    start = position
    end = position
    while text[position] != 10:
        if not is_blank(text[position]):
            end = position + 1
            facts[UNUSUAL] |= not 33 <= text[position] <= 126
        position += 1
    docno = find_docno(text, start, end)
    if docno > 0:
        marks[DOCNO] = docno
        while docno < end and not is_blank(text[docno]):
            docno += 1
        marks[DOCNO_END] = docno
        start = docno
        while start < end and is_blank(text[start]):
            start += 1
    if start < end:
        marks[COMMENT] = start
        marks[COMMENT_END] = end
    return position


@njit(cache=True)  # type: ignore[untyped-decorator]
def find_docno(text, position, end):  # type: ignore[no-untyped-def]
    """Where the X of `docid = X` or `docno=X` begins, if the comment starts so; 0 if not."""
    if (
        end - position < 7
        or text[position] | 32 != 100
        or text[position + 1] | 32 != 111
        or text[position + 2] | 32 != 99
    ):
        return 0
    by_id = text[position + 3] | 32 == 105 and text[position + 4] | 32 == 100
    by_number = text[position + 3] | 32 == 110 and text[position + 4] | 32 == 111
    if not by_id and not by_number:
        return 0
    position += 5
    while position < end and is_blank(text[position]):
        position += 1
    if position == end or text[position] != 61:
        return 0
    position += 1
    while position < end and is_blank(text[position]):
        position += 1
    return position if position < end else 0
