"""Decimal parsing in compiled code: the float64 nearest to a decimal, equal to Python's `float`.

Digits w and exponent e mean w·10^e. If w < 2^53 and |e| ≤ 22, both are exact, and one multiplication or division rounds
once (Clinger, 1990). Otherwise 10^e is taken to 128 bits, of which the product's upper bits nearly always decide the
rounding (Lemire, "Number parsing at a gigabyte per second", 2021). The rest is left to `float` itself: more than 19
digits, numbers near the ends of the range, and ties that 128 bits cannot decide.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

# Outcomes of parsing a word: a number, one that is left to `float`, not a number.
EXACT, HARD, BAD = 0, 1, 2

# Any number of 19 digits fits into 64 bits.
MAX_DIGITS = 19
_MIN_EXPONENT, _MAX_EXPONENT = -330, 310
_U = np.uint64
_LOW_HALF = _U(0xFFFFFFFF)
_LAST_NINE = _U(0x1FF)
_ALL = _U(0xFFFFFFFFFFFFFFFF)


def _power_of_ten(exponent: int) -> int:
    """The upper 128 bits of 10^exponent, truncated."""
    power: int = 10 ** abs(exponent)
    if exponent < 0:
        power = (1 << (power.bit_length() + 128)) // power
    return power << 128 >> power.bit_length()


_POWERS = [_power_of_ten(exponent) for exponent in range(_MIN_EXPONENT, _MAX_EXPONENT + 1)]
_POWERS_HIGH = np.array([power >> 64 for power in _POWERS], dtype=np.uint64)
_POWERS_LOW = np.array([power & (2**64 - 1) for power in _POWERS], dtype=np.uint64)
_SMALL_POWERS = np.array([float(10**exponent) for exponent in range(23)])


@njit(cache=True)  # type: ignore[untyped-decorator]
def read_decimal(text, position):  # type: ignore[no-untyped-def]
    """Parse the number at `position` of an array of bytes; returns the outcome, the value, and where it ends."""
    c = np.int64(text[position])
    negative = c == 45
    if c == 45 or c == 43:
        position += 1
        c = np.int64(text[position])
    # Digits are counted by positions, not one by one, which keeps the loops tight; overflow is detected afterwards.
    digits = _U(0)
    first = position
    while 48 <= c <= 57:
        digits = digits * _U(10) + _U(c - 48)
        position += 1
        c = np.int64(text[position])
    n_digits = position - first
    exponent = np.int64(0)
    if c == 46:
        position += 1
        point = position
        c = np.int64(text[position])
        while 48 <= c <= 57:
            digits = digits * _U(10) + _U(c - 48)
            position += 1
            c = np.int64(text[position])
        exponent = point - position
        n_digits -= exponent
    if n_digits == 0:
        return BAD, 0.0, position
    too_many = n_digits > MAX_DIGITS and _significant(text, first, position) > MAX_DIGITS
    if c == 101 or c == 69:
        position += 1
        c = np.int64(text[position])
        below = c == 45
        if c == 45 or c == 43:
            position += 1
            c = np.int64(text[position])
        if not 48 <= c <= 57:
            return BAD, 0.0, position
        shift = np.int64(0)
        while 48 <= c <= 57:
            if shift < 1_000_000:
                shift = np.int64(shift * 10 + (c - 48))
            position += 1
            c = np.int64(text[position])
        exponent += -shift if below else shift
    if too_many:
        return HARD, 0.0, position
    if digits == _U(0):
        return EXACT, -0.0 if negative else 0.0, position
    if digits <= _U(1 << 53) and -22 <= exponent <= 22:
        value = np.float64(np.int64(digits))
        value = value / _SMALL_POWERS[-exponent] if exponent < 0 else value * _SMALL_POWERS[exponent]
        return EXACT, -value if negative else value, position
    value = _nearest(digits, exponent)
    if value == 0.0:
        return HARD, 0.0, position
    return EXACT, -value if negative else value, position


@njit(cache=True)  # type: ignore[untyped-decorator]
def _significant(text, position, end):  # type: ignore[no-untyped-def]
    """The number of digits after the leading zeros."""
    while position < end and (text[position] == 48 or text[position] == 46):
        position += 1
    n_digits = 0
    for i in range(position, end):
        n_digits += text[i] != 46
    return n_digits


@njit(cache=True)  # type: ignore[untyped-decorator]
def _nearest(digits, exponent):  # type: ignore[no-untyped-def]
    """The normal float64 nearest to digits·10^exponent, or 0.0 if 128 bits do not decide it."""
    if exponent < _MIN_EXPONENT or exponent > _MAX_EXPONENT:
        return 0.0
    shift = 0
    for step in (32, 16, 8, 4, 2, 1):
        if digits < _U(1) << _U(64 - step):
            digits <<= _U(step)
            shift += step
    # 217706 / 2^16 is log2(10), exactly enough for this range.
    binary = ((217706 * exponent) >> 16) + 64 + 1023 - shift
    high, low = _multiply(digits, _POWERS_HIGH[exponent - _MIN_EXPONENT])
    if high & _LAST_NINE == _LAST_NINE and low + digits < digits:
        more_high, more_low = _multiply(digits, _POWERS_LOW[exponent - _MIN_EXPONENT])
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
    """The upper and the lower 64 bits of a product of two 64-bit numbers."""
    a_high, a_low = a >> _U(32), a & _LOW_HALF
    b_high, b_low = b >> _U(32), b & _LOW_HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> _U(32))
    other = a_low * b_high + (middle & _LOW_HALF)
    return a_high * b_high + (middle >> _U(32)) + (other >> _U(32)), a * b
