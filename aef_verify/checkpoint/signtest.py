"""The exact one-sided sign test of a comparison lane [LANE-8], decided early where exact bounds allow it [LANE-11].

With m untied pairs of which r regressed, p = (C(m, r) + ... + C(m, m)) / 2^m, and the lane fails when p is at most the
significance, compared as rationals: a binary64 is M / 2^e. No floating point takes part.

How it is decided:

1. The smaller tail is summed. For r > m/2 that is the tail of p itself, A = 2^m p. Otherwise it is the other one, whose
   sum is A = 2^m (1 - p) = C(m, m - r + 1) + ... + C(m, m): p <= s exactly when A >= 2^m (1 - s).
2. For odd m and r = (m + 1)/2 the two tails are equal, so that p = 1/2 without a sum.
3. Otherwise A is enclosed between two integers times a power of two. The first term is m!/(k! (m - k)!), each further
   one the one before times (m - k)/(k + 1). A given number of bits of either bound is kept; what is cut off, or left
   over by a division, is rounded downwards in the lower bound and upwards in the upper one. As k > m/2 the ratio of
   two terms is below 1 and falls, so that what is not summed is at most the geometric series of the last term with
   its ratio q = (m - k)/(k + 1): q/(1 - q) = (m - k)/(2k + 1 - m) times that term. Where both bounds lie on one side
   of the significance, so does A.
4. Where they do not, the enclosure is made anew with more bits. A is an integer, so that the bounds are one number as
   soon as they are less than 1 apart: a few dozen bits more than A has do that, and the answer is the plain test's.

So no answer differs from the plain test's, whatever is given, and no search goes on without end. The first enclosure
decides every case that anybody can name, in some 20,000 steps on numbers of a few words. For it not to, a significance
of 53 bits has to agree with p in 200; to choose both r and m among a million lets some 40 further bits agree, and
equality beyond that needs an A of more than 200 bits of which all but 53 are trailing zeros.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

FIRST_BITS = 256
"""Bits of a bound in the first enclosure; rounding costs some 40 of them at m = 1,000,000."""

_MORE = 16
"""How many times as many bits the next enclosure has."""

_CHUNK = 32
"""Factors of a product that are multiplied before anything is cut off."""


class Bounds(NamedTuple):
    """An enclosure of a number: low * 2^scale <= number <= high * 2^scale."""

    low: int
    high: int
    scale: int


def is_regression(regressed: int, untied: int, significance: float) -> bool:
    """Return whether so many regressed pairs are a significant regression: p <= significance, exactly [LANE-8].

    Args:
        regressed: pairs that regressed, r.
        untied: pairs that regressed or improved, m; at least r.
        significance: above 0 and below 1.

    Raises:
        ValueError: the numbers are not of that kind.
    """
    if not 0 <= regressed <= untied or not 0 < significance < 1:
        raise ValueError(f"no sign test of {regressed} regressed in {untied} pairs at {significance}")
    if regressed == 0:
        return False
    numerator, denominator = significance.as_integer_ratio()
    halvings = denominator.bit_length() - 1
    if 2 * regressed == untied + 1:
        return 2 * numerator >= denominator
    if 2 * regressed > untied:
        return compared(untied, regressed, numerator, halvings) <= 0
    return compared(untied, untied - regressed + 1, denominator - numerator, halvings) >= 0


def compared(pairs: int, start: int, numerator: int, halvings: int, bits: int = FIRST_BITS) -> int:
    """Compare C(pairs, start) + ... + C(pairs, pairs) with numerator / 2^halvings of 2^pairs.

    Args:
        pairs: at least 1.
        start: above half of the pairs.
        numerator: at least 1.
        halvings: at least 0.
        bits: those of the first enclosure; at least `pairs.bit_length()`, so that no lower bound becomes 0.

    Returns:
        -1, 0 or 1 as the sum is below, equal or above.
    """
    while True:
        low, high, scale = tail(pairs, start, bits)
        # Everything in units of the smaller power of two, of which both sides are whole numbers.
        unit = min(scale, pairs - halvings)
        limit = numerator << (pairs - halvings - unit)
        low, high = low << (scale - unit), high << (scale - unit)
        if high < limit:
            return -1
        if low > limit:
            return 1
        if low == high:
            return 0
        bits *= _MORE


def tail(pairs: int, start: int, bits: int) -> Bounds:
    """Enclose C(pairs, start) + ... + C(pairs, pairs), with `start` above half of the pairs."""
    low, high, scale = _binomial(pairs, start, bits)
    least, most = low, high
    k = start
    while low and k < pairs:
        low = low * (pairs - k) // (k + 1)
        high = -(-high * (pairs - k) // (k + 1))
        least += low
        most += high
        k += 1
    most -= -high * (pairs - k) // (2 * k + 1 - pairs)
    return _whole(Bounds(least, most, scale))


def _binomial(pairs: int, start: int, bits: int) -> Bounds:
    """Enclose C(pairs, start): the product of the factors above `start`, over that of as many from 1."""
    above = _product(start + 1, pairs, bits)
    below = _product(1, pairs - start, bits)
    # With so many further bits the quotient is at least as long as the bounds are to be.
    spare = bits + below.high.bit_length()
    low = (above.low << spare) // below.high
    high = -(-(above.high << spare) // below.low)
    return _cut(Bounds(low, high, above.scale - below.scale - spare), bits)


def _product(first: int, last: int, bits: int) -> Bounds:
    """Enclose the product of the integers from first to last, which is 1 where there are none."""
    found = Bounds(1, 1, 0)
    for start in range(first, last + 1, _CHUNK):
        factor = prod(range(start, min(start + _CHUNK, last + 1)))
        found = _cut(Bounds(found.low * factor, found.high * factor, found.scale), bits)
    return found


def _cut(found: Bounds, bits: int) -> Bounds:
    """Enclose the same with bounds of at most so many bits, and one more where rounding carries."""
    shift = max(0, found.high.bit_length() - bits)
    return Bounds(found.low >> shift, -(-found.high >> shift), found.scale + shift)


def _whole(found: Bounds) -> Bounds:
    """Enclose the same number, which is an integer, with bounds that are integers."""
    if found.scale >= 0:
        return found
    return Bounds(-(-found.low >> -found.scale), found.high >> -found.scale, 0)
