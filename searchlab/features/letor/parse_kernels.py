"""How are a million lines of a feature file read at once?

By one compiled pass over a block of bytes that ends with a line end. Numbers go straight into the table; of words
(qids, docnos, comments) only the places are marked. The pass stops where Python is needed, and says why and where;
it may be called again from there.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.features.letor.decimals import BAD, HARD, read_decimal

# Why the pass stopped; a comment that begins with n may be the one that names the features.
AT_END, FULL, NAMES_LINE, TOO_NARROW, MALFORMED = range(5)

# What is marked of each row: where its words begin and end (-1: there is none, or the qid of the row before), its line.
QID, QID_END, DOCNO, DOCNO_END, COMMENT, COMMENT_END, LINE, N_MARKS = range(8)

# What is marked of each number that is left to `float`; the label's column is -1.
HARD_ROW, HARD_COLUMN, HARD_START, HARD_END, N_HARD_MARKS = range(5)

# What is known of all rows so far: whether one left out a feature before its last, how many features the first has,
# the first line with another number of them (0: none), that number, the highest feature number, and whether
# a word holds bytes that are not printable ASCII.
GAPS, FIRST_COUNT, ODD_LINE, ODD_COUNT, WIDEST, UNUSUAL, N_FACTS = range(7)


@njit(cache=True)  # type: ignore[untyped-decorator]
def parse_rows(text, place, line, values, labels, marks, hard, facts, missing):  # type: ignore[no-untyped-def]
    """Fill rows until `text` ends; gives the reason to stop, the place and line to go on from, rows and hard numbers.

    `line` is the number of the line that begins at `place`. What `values` has no column for stops the pass before its
    line is counted, as does a malformed line.
    """
    n_rows = 0
    n_hard = 0
    width = values.shape[1]
    previous = np.int64(0)
    previous_end = np.int64(0)
    while place < len(text):
        begin = place
        while is_blank(text[place]):
            place += 1
        if text[place] == 10:
            place += 1
            line += 1
            continue
        if text[place] == 35:
            place += 1
            while is_blank(text[place]):
                place += 1
            if text[place] == 110:
                return NAMES_LINE, begin, line, n_rows, n_hard
            while text[place] != 10:
                place += 1
            place += 1
            line += 1
            continue
        if n_rows == len(labels) or n_hard + width + 1 > len(hard):
            return FULL, begin, line, n_rows, n_hard
        first_hard = n_hard

        kind, labels[n_rows], end = read_decimal(text, place)
        if kind == BAD or not is_blank(text[end]):
            return MALFORMED, begin, line, n_rows, first_hard
        if kind == HARD:
            n_hard = mark_hard(hard, n_hard, n_rows, -1, place, end)
        place = end
        while is_blank(text[place]):
            place += 1

        if not (text[place] == 113 and text[place + 1] == 105 and text[place + 2] == 100 and text[place + 3] == 58):
            return MALFORMED, begin, line, n_rows, first_hard
        place += 4
        qid = place
        while not ends_word(text[place]):
            facts[UNUSUAL] |= not 33 <= text[place] <= 126
            place += 1
        if place == qid:
            return MALFORMED, begin, line, n_rows, first_hard
        if same_bytes(text, previous, previous_end, qid, place):
            marks[n_rows, QID] = -1
        else:
            marks[n_rows, QID] = qid
        marks[n_rows, QID_END] = place
        qid_end = place

        last = np.int64(0)
        count = 0
        gaps = False
        while True:
            while is_blank(text[place]):
                place += 1
            if text[place] == 10 or text[place] == 35:
                break
            number = np.int64(0)
            c = np.int64(text[place])
            while 48 <= c <= 57:
                if number < 1_000_000_000:
                    number = np.int64(number * 10 + (c - 48))
                place += 1
                c = np.int64(text[place])
            if c != 58 or number <= last:
                return MALFORMED, begin, line, n_rows, first_hard
            if number > width:
                return TOO_NARROW, begin, line, n_rows, first_hard
            place += 1
            kind, value, end = read_decimal(text, place)
            if kind == BAD:
                value = np.nan
                end = skip_undefined(text, place)
            elif kind == HARD:
                n_hard = mark_hard(hard, n_hard, n_rows, number - 1, place, end)
            if not ends_word(text[end]):
                return MALFORMED, begin, line, n_rows, first_hard
            place = end
            for column in range(last, np.int64(number - 1)):
                values[n_rows, column] = missing
                gaps = True
            values[n_rows, number - 1] = value
            last = number
            count += 1
        for column in range(last, width):
            values[n_rows, column] = missing

        place = mark_comment(text, place, marks[n_rows], facts)
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
        place += 1
        line += 1
    return AT_END, place, line, n_rows, n_hard


@njit(cache=True)  # type: ignore[untyped-decorator]
def is_blank(c):  # type: ignore[no-untyped-def]
    """Whether a byte parts words: a space, a tab, or the first half of a line end of Windows."""
    return c == 32 or c == 9 or c == 13


@njit(cache=True)  # type: ignore[untyped-decorator]
def ends_word(c):  # type: ignore[no-untyped-def]
    """Whether a byte can follow a word: a blank, a line end, the beginning of a comment."""
    return c == 32 or c == 10 or c == 35 or c == 9 or c == 13


@njit(cache=True)  # type: ignore[untyped-decorator]
def same_bytes(text, start, end, other, other_end):  # type: ignore[no-untyped-def]
    """Whether two stretches hold the same."""
    if end - start != other_end - other:
        return False
    i = 0
    while i < end - start and text[start + i] == text[other + i]:
        i += 1
    return i == end - start


@njit(cache=True)  # type: ignore[untyped-decorator]
def mark_hard(hard, n_hard, row, column, start, end):  # type: ignore[no-untyped-def]
    """Note a number that is left to Python."""
    hard[n_hard, HARD_ROW] = row
    hard[n_hard, HARD_COLUMN] = column
    hard[n_hard, HARD_START] = start
    hard[n_hard, HARD_END] = end
    return n_hard + 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def skip_undefined(text, place):  # type: ignore[no-untyped-def]
    """Where NULL or NaN ends, in whatever case; `place` - 1, where no word can end, if it is neither."""
    start = place
    if text[place] == 45 or text[place] == 43:
        place += 1
    if text[place] | 32 != 110:
        return start - 1
    if text[place + 1] | 32 == 97 and text[place + 2] | 32 == 110:
        return place + 3
    if text[place + 1] | 32 == 117 and text[place + 2] | 32 == 108 and text[place + 3] | 32 == 108:
        return place + 4
    return start - 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def mark_comment(text, place, marks, facts):  # type: ignore[no-untyped-def]
    """Mark docno and comment of a row, from a # or the line end on; gives the place of the line end."""
    marks[DOCNO] = marks[DOCNO_END] = marks[COMMENT] = marks[COMMENT_END] = -1
    if text[place] == 10:
        return place
    place += 1
    while is_blank(text[place]):
        place += 1
    start = place
    end = place
    while text[place] != 10:
        if not is_blank(text[place]):
            end = place + 1
            facts[UNUSUAL] |= not 33 <= text[place] <= 126
        place += 1
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
    return place


@njit(cache=True)  # type: ignore[untyped-decorator]
def find_docno(text, place, end):  # type: ignore[no-untyped-def]
    """Where the X of `docid = X` or `docno=X` begins, if that is how the comment begins; 0 if not."""
    if end - place < 7 or text[place] | 32 != 100 or text[place + 1] | 32 != 111 or text[place + 2] | 32 != 99:
        return 0
    by_id = text[place + 3] | 32 == 105 and text[place + 4] | 32 == 100
    by_number = text[place + 3] | 32 == 110 and text[place + 4] | 32 == 111
    if not by_id and not by_number:
        return 0
    place += 5
    while place < end and is_blank(text[place]):
        place += 1
    if place == end or text[place] != 61:
        return 0
    place += 1
    while place < end and is_blank(text[place]):
        place += 1
    return place if place < end else 0
