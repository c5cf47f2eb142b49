"""[LANE-8], [LANE-11] The exact sign test: every small case and many large ones against the plain rational sum."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb, nextafter
from random import Random

import pytest

from aef_verify.checkpoint import signtest
from aef_verify.checkpoint.signtest import compared, is_regression, tail

LEAST, MOST = 5e-324, 1 - 2**-53
MILLION = 1_000_000


def tails(pairs: int) -> Iterator[tuple[int, int]]:
    """Yield (r, C(m, r) + ... + C(m, m)) for every r, by the sum alone."""
    total = 0
    for regressed in range(pairs, -1, -1):
        total += comb(pairs, regressed)
        yield regressed, total


def around(p: Fraction) -> set[float]:
    """Return the binary64 values nearest to a fraction, and the least and greatest significance there is."""
    near = float(p)
    values = {near, nextafter(near, 0), nextafter(near, 1), 1 - near, LEAST, 0.05, 0.5, nextafter(0.5, 0), MOST}
    return {value for value in values if 0 < value < 1}


def test_every_case_up_to_sixty_pairs() -> None:
    for pairs in range(1, 61):
        for regressed, total in tails(pairs):
            p = Fraction(total, 2**pairs)
            for significance in around(p):
                expected = p <= Fraction(significance)
                assert is_regression(regressed, pairs, significance) == expected, (regressed, pairs, significance)


@pytest.mark.parametrize("pairs", [61, 127, 128, 256, 257, 300, 511, 999, 1074, 1075, 1127, 1500, 2047, 3001])
def test_many_pairs_at_the_significances_nearest_to_p(pairs: int) -> None:
    chosen = {0, 1, 2, pairs // 2 - 1, pairs // 2, pairs // 2 + 1, pairs - 2, pairs - 1, pairs}
    chosen |= set(Random(pairs).sample(range(pairs), 30))
    for regressed, total in tails(pairs):
        if regressed in chosen:
            p = Fraction(total, 2**pairs)
            for significance in around(p):
                expected = p <= Fraction(significance)
                assert is_regression(regressed, pairs, significance) == expected, (regressed, significance)


@pytest.mark.parametrize(
    ("regressed", "pairs", "significance"),
    [
        (1, 1, 0.5),
        (5, 5, 2**-5),
        (2, 3, 0.5),
        (4, 4, 0.0625),
        (59, 60, 61 / 2**60),
        (1073, 1073, 2 * LEAST),
        (1, 53, MOST),
        # Two tails of other pairs that are powers of two: 1 + 23 + 253 + 1771 = 2^11, 1 + 90 + 4005 = 2^12.
        (20, 23, 2**-12),
        (88, 90, 2**-78),
        (500_001, 1_000_001, 0.5),
        (999_999, 1_999_997, 0.5),
    ],
)
def test_equality_fails_and_a_lower_significance_passes(regressed: int, pairs: int, significance: float) -> None:
    assert is_regression(regressed, pairs, significance)
    assert not is_regression(regressed, pairs, nextafter(significance, 0))


@pytest.mark.parametrize(
    ("regressed", "below"),
    [
        (500_000, "0x1.00344a473ce7ap-1"),
        (500_001, "0x1.ff976b718630bp-2"),
        (500_100, "0x1.af3d106859d4fp-2"),
        (500_500, "0x1.456bf8b8fdc22p-3"),
        (501_000, "0x1.759f898b22a13p-6"),
        (501_500, "0x1.630763e94cbacp-10"),
        (502_500, "0x1.355fc4ea7cb34p-22"),
        (505_000, "0x1.2985c57bddc55p-77"),
        (510_000, "0x1.c3c340432cdf4p-295"),
    ],
)
def test_a_million_pairs_between_the_significances_that_enclose_p(regressed: int, below: str) -> None:
    """Let p lie between a binary64 and the next one, as the plain sum of all big integers gave once, in a minute."""
    significance = float.fromhex(below)
    assert not is_regression(regressed, MILLION, significance)
    assert is_regression(regressed, MILLION, nextafter(significance, 1))
    # The other tail: p(m - r + 1) = 1 - p(r).
    other = MILLION - regressed + 1
    assert not is_regression(other, MILLION, nextafter(1 - significance, 0) - 2**-53)
    if (above := nextafter(1 - significance, 1)) < 1:
        assert is_regression(other, MILLION, above)


@pytest.mark.parametrize(
    ("regressed", "significance", "expected"),
    [
        # 2^-1000000 is below everything; 1 - 2^-1000000 is above everything; p = 1 for no regression.
        (MILLION, LEAST, True),
        (1, MOST, False),
        (0, MOST, False),
        # By Hoeffding, p <= exp(-2 t^2 / m) at m/2 + t: below exp(-800) and below 1e-21; and the same from 1.
        (520_000, LEAST, True),
        (505_000, 1e-21, True),
        (495_000, MOST, False),
        # The largest term alone: C(m, 530000) > 2^m exp(-1900) / m is below 5e-324, C(m, 519000) is above it.
        (530_000, LEAST, True),
        (519_000, LEAST, False),
        # p(m/2) = 1/2 + C(m, m/2)/2^(m + 1), and C(m, m/2)/2^m is between 1/sqrt(pi (m + 1)/2) and 1/sqrt(pi m/2).
        (500_000, 0.5, False),
        (500_001, 0.5, True),
        (500_000, 0.5003989, False),
        (500_000, 0.5003990, True),
        (500_001, 0.4996010, False),
        (500_001, 0.4996011, True),
    ],
)
def test_a_million_pairs_by_known_bounds(regressed: int, significance: float, expected: bool) -> None:
    assert is_regression(regressed, MILLION, significance) is expected


@pytest.mark.parametrize("bits", [8, 16, 64, 200])
def test_an_enclosure_holds_the_sum_and_becomes_it_with_enough_bits(bits: int) -> None:
    for pairs in (*range(1, 40), 150):
        for start, total in tails(pairs):
            if 2 * start <= pairs:
                break
            low, high, scale = tail(pairs, start, bits)
            assert low << scale <= total <= high << scale
            if total.bit_length() + 30 < bits:
                assert low << scale == total == high << scale


@pytest.mark.parametrize("bits", [8, 9, 12])
def test_few_bits_cost_enclosures_and_change_no_answer(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(pairs: int, start: int, wanted: int) -> signtest.Bounds:
        made.append(wanted)
        return tail(pairs, start, wanted)

    monkeypatch.setattr(signtest, "tail", counted)
    for pairs in (7, 40, 129):
        for start, total in tails(pairs):
            if 2 * start <= pairs:
                break
            for numerator in (total - 1, total, total + 1):
                expected = (total > numerator) - (total < numerator)
                if numerator:
                    assert compared(pairs, start, numerator, pairs, bits) == expected
                    assert compared(pairs, start, numerator << 3, pairs + 3, bits) == expected
    assert max(made) > bits


@pytest.mark.parametrize(
    ("regressed", "pairs", "significance"),
    [(-1, 5, 0.5), (6, 5, 0.5), (1, 5, 0.0), (1, 5, 1.0), (1, 5, -0.1), (1, 5, float("nan")), (1, 5, float("inf"))],
)
def test_what_is_no_sign_test_is_refused(regressed: int, pairs: int, significance: float) -> None:
    with pytest.raises(ValueError, match="no sign test"):
        is_regression(regressed, pairs, significance)


def test_the_least_significance_there_is() -> None:
    assert is_regression(1074, 1074, LEAST)
    assert not is_regression(1073, 1073, LEAST)


def test_no_pairs_are_no_regression() -> None:
    assert not is_regression(0, 0, MOST)
