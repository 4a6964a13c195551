"""Which number do these digits mean?

The float64 that is nearest to the decimal, as Python's `float` finds it, but in compiled code. Digits w and exponent e
mean w·10^e. Where w < 2^53 and |e| ≤ 22, both are exact, and one multiplication or division rounds once (Clinger,
1990). Otherwise 10^e is taken to 128 bits, of which the product's upper bits nearly always decide the rounding
(Lemire, "Number parsing at a gigabyte per second", 2021). What is left over is for `float` itself: more than 19 digits,
numbers near the ends of the range, and ties that 128 bits cannot tell.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

# What became of a word: a number, one that `float` has to read, no number at all.
EXACT, HARD, BAD = 0, 1, 2

# So many always fit into 64 bits.
MOST_DIGITS = 19
_SMALLEST, _LARGEST = -330, 310
_U = np.uint64
_LOW_HALF = _U(0xFFFFFFFF)
_LAST_NINE = _U(0x1FF)
_ALL = _U(0xFFFFFFFFFFFFFFFF)


def _power_of_ten(exponent: int) -> int:
    """The upper 128 bits of 10^exponent, cut off."""
    power: int = 10 ** abs(exponent)
    if exponent < 0:
        power = (1 << (power.bit_length() + 128)) // power
    return power << 128 >> power.bit_length()


_POWERS = [_power_of_ten(exponent) for exponent in range(_SMALLEST, _LARGEST + 1)]
_POWERS_HIGH = np.array([power >> 64 for power in _POWERS], dtype=np.uint64)
_POWERS_LOW = np.array([power & (2**64 - 1) for power in _POWERS], dtype=np.uint64)
_SMALL_POWERS = np.array([float(10**exponent) for exponent in range(23)])


@njit(cache=True)  # type: ignore[untyped-decorator]
def read_decimal(text, place):  # type: ignore[no-untyped-def]
    """The number that begins at `place` of an array of bytes: what became of it, its value, and where it ends."""
    c = np.int64(text[place])
    negative = c == 45
    if c == 45 or c == 43:
        place += 1
        c = np.int64(text[place])
    # Counting digits by places, not one by one, keeps the loops tight; an overflow is noticed afterwards.
    digits = _U(0)
    first = place
    while 48 <= c <= 57:
        digits = digits * _U(10) + _U(c - 48)
        place += 1
        c = np.int64(text[place])
    n_digits = place - first
    exponent = np.int64(0)
    if c == 46:
        place += 1
        point = place
        c = np.int64(text[place])
        while 48 <= c <= 57:
            digits = digits * _U(10) + _U(c - 48)
            place += 1
            c = np.int64(text[place])
        exponent = point - place
        n_digits -= exponent
    if n_digits == 0:
        return BAD, 0.0, place
    too_many = n_digits > MOST_DIGITS and _significant(text, first, place) > MOST_DIGITS
    if c == 101 or c == 69:
        place += 1
        c = np.int64(text[place])
        below = c == 45
        if c == 45 or c == 43:
            place += 1
            c = np.int64(text[place])
        if not 48 <= c <= 57:
            return BAD, 0.0, place
        shift = np.int64(0)
        while 48 <= c <= 57:
            if shift < 1_000_000:
                shift = np.int64(shift * 10 + (c - 48))
            place += 1
            c = np.int64(text[place])
        exponent += -shift if below else shift
    if too_many:
        return HARD, 0.0, place
    if digits == _U(0):
        return EXACT, -0.0 if negative else 0.0, place
    if digits <= _U(1 << 53) and -22 <= exponent <= 22:
        value = np.float64(np.int64(digits))
        value = value / _SMALL_POWERS[-exponent] if exponent < 0 else value * _SMALL_POWERS[exponent]
        return EXACT, -value if negative else value, place
    value = _nearest(digits, exponent)
    if value == 0.0:
        return HARD, 0.0, place
    return EXACT, -value if negative else value, place


@njit(cache=True)  # type: ignore[untyped-decorator]
def _significant(text, place, end):  # type: ignore[no-untyped-def]
    """How many digits follow the leading zeros."""
    while place < end and (text[place] == 48 or text[place] == 46):
        place += 1
    n_digits = 0
    for i in range(place, end):
        n_digits += text[i] != 46
    return n_digits


@njit(cache=True)  # type: ignore[untyped-decorator]
def _nearest(digits, exponent):  # type: ignore[no-untyped-def]
    """The normal float64 nearest to digits·10^exponent, or 0.0 if 128 bits do not tell."""
    if exponent < _SMALLEST or exponent > _LARGEST:
        return 0.0
    shift = 0
    for step in (32, 16, 8, 4, 2, 1):
        if digits < _U(1) << _U(64 - step):
            digits <<= _U(step)
            shift += step
    # 217706 / 2^16 is log2(10), exactly enough for this range.
    binary = ((217706 * exponent) >> 16) + 64 + 1023 - shift
    high, low = _multiply(digits, _POWERS_HIGH[exponent - _SMALLEST])
    if high & _LAST_NINE == _LAST_NINE and low + digits < digits:
        more_high, more_low = _multiply(digits, _POWERS_LOW[exponent - _SMALLEST])
        low_sum = low + more_high
        if low_sum < low:
            high += _U(1)
        if high & _LAST_NINE == _LAST_NINE and low_sum == _ALL and more_low + digits < digits:
            return 0.0
        low = low_sum
    top = high >> _U(63)
    mantissa = high >> (top + _U(9))
    binary -= np.int64(_U(1) ^ top)
    if low == _U(0) and high & _LAST_NINE == _U(0) and mantissa & _U(3) == _U(1):
        return 0.0
    mantissa += mantissa & _U(1)
    mantissa >>= _U(1)
    if mantissa >> _U(53):
        mantissa >>= _U(1)
        binary += 1
    if binary < 1 or binary >= 0x7FF:
        return 0.0
    return math.ldexp(np.float64(np.int64(mantissa)), binary - 1075)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _multiply(a, b):  # type: ignore[no-untyped-def]
    """The 128 bits of a product of two numbers of 64 bits, upper and lower half."""
    a_high, a_low = a >> _U(32), a & _LOW_HALF
    b_high, b_low = b >> _U(32), b & _LOW_HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> _U(32))
    other = a_low * b_high + (middle & _LOW_HALF)
    return a_high * b_high + (middle >> _U(32)) + (other >> _U(32)), a * b
