"""Which questions are asked (docs/MEMORY_PAIR.md §1): stratified, seeded, reproducible, in dataset order."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aef_verify.memory import roster
from aef_verify.memory.entry import LARGEST_INTEGER
from aef_verify.memory.model import QUESTION_TYPES, RosterItem
from aef_verify.problems import InputError

OFFICIAL = (70, 56, 30, 133, 133, 78)
"""How many questions of each type the official files hold."""


def items(counts: tuple[int, ...]) -> tuple[RosterItem, ...]:
    return tuple(
        RosterItem(f"{kind}-{at}", kind)
        for kind, count in zip(QUESTION_TYPES, counts, strict=True)
        for at in range(count)
    )


def test_subset_of_the_official_file() -> None:
    found = roster.select(items(OFFICIAL), preset="subset", seed=0)
    assert Counter(item.type for item in found) == dict(zip(QUESTION_TYPES, (7, 6, 3, 13, 13, 8), strict=True))


def test_full_is_everything_in_dataset_order() -> None:
    held = items(OFFICIAL)[::-1]
    assert roster.select(held, preset="full", seed=5) == held


def test_a_small_dataset_is_its_own_subset() -> None:
    assert roster.select(items((1, 2, 3, 0, 0, 1)), preset="subset", seed=1) == items((1, 2, 3, 0, 0, 1))


def test_draws_are_pinned() -> None:
    """A change here changes what every seed means."""
    found = roster.select(items((2,) * 6), preset="subset", seed=7, max_questions=6)
    assert [item.id.rpartition("-")[2] for item in found] == PINNED


PINNED = ["0", "0", "1", "1", "1", "0"]


@given(
    st.tuples(*[st.integers(0, 40)] * 6).filter(any),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.integers(1, 300),
    st.sampled_from(roster.PRESETS),
    st.randoms(use_true_random=False),
)
def test_any_draw(counts: tuple[int, ...], seed: int, most: int, preset: str, random: object) -> None:
    held = items(counts)
    found = roster.select(held, preset=preset, seed=seed, max_questions=most)
    assert len(found) == min(len(held), most, 50 if preset == "subset" else most)
    assert [item for item in held if item in set(found)] == list(found)
    shuffled = list(held)
    random.shuffle(shuffled)  # type: ignore[attr-defined] # hypothesis gives a random.Random
    again = roster.select(shuffled, preset=preset, seed=seed, max_questions=most)
    assert set(again) == set(found)
    types = {item.type for item in held}
    drawn = Counter(item.type for item in found)
    if len(found) >= len(types):
        assert set(drawn) == types
    if len(found) < len(held):
        assert all(
            drawn[kind] <= len(found) * count / len(held) + 1 for kind, count in Counter(i.type for i in held).items()
        )


def test_a_seed_is_an_integer_that_json_holds_exactly() -> None:
    held = items(OFFICIAL)
    for seed in (LARGEST_INTEGER, -LARGEST_INTEGER):
        assert len(roster.select(held, preset="subset", seed=seed)) == 50
        with pytest.raises(InputError, match="the seed"):
            roster.select(held, preset="subset", seed=2 * seed)


def test_another_seed_draws_others() -> None:
    draws = {roster.select(items(OFFICIAL), preset="subset", seed=seed) for seed in range(5)}
    assert len(draws) == 5


@pytest.mark.parametrize(
    ("preset", "seed", "most"), [("half", 0, None), ("full", 0, 0), ("subset", 0, -3), ("full", 2**53, 1)]
)
def test_usage_errors(preset: str, seed: int, most: int | None) -> None:
    with pytest.raises(InputError):
        roster.select(items(OFFICIAL), preset=preset, seed=seed, max_questions=most)
