"""A run gets one report wherever its results are cut into ranges, valid or changed, by either parser [RUN-13]."""

from __future__ import annotations

from collections.abc import Iterable
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from aef_verify import folder
from aef_verify.problems import InputError
from aef_verify.run.ranges import Judging, Parts, Ranges, judge_here
from aef_verify.run.verify import RunReport, verify_run
from aef_verify.strategies import Mutation, OverlaidRun, mutations, overlaid_runs
from tests.properties.both_paths import NATIVE, PURE, both_paths
from tests.properties.effort import examples
from tests.properties.scratch import written


def joining(sizes: list[int]) -> Ranges:
    """Return what joins so many ranges at a time, each judged by rules of their own, as other processes do."""

    def judge(judging: Judging, ranges: Iterable[bytes]) -> Parts:
        counts, kept = iter(sizes * 10_000), list[bytes]()
        wanted = next(counts)
        for data in ranges:
            kept.append(data)
            if len(kept) >= wanted:
                yield judging.rules().judge(b"".join(kept))
                kept, wanted = [], next(counts, 1)
        if kept:
            yield judging.rules().judge(b"".join(kept))

    return judge


def report(path: str, ranges: Ranges) -> RunReport | str:
    try:
        return verify_run(path, overlays=True, ranges=ranges)
    except InputError as refusal:
        return str(refusal)


@examples(60)
@given(
    overlaid_runs().flatmap(lambda run: st.tuples(st.just(run), mutations(run.files))),
    st.integers(20, 5000),
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.sampled_from((NATIVE, PURE)),
)
def test_wherever_the_results_are_cut_the_report_is_the_same(
    changed: tuple[OverlaidRun, Mutation], block: int, sizes: list[int], parser: str
) -> None:
    run, mutation = changed
    for files in (run.files, mutation.files):
        with both_paths() as both, written(files) as place:
            whole = both.on(parser, lambda: report(place, judge_here))  # called here and now
            with patch.object(folder, "BLOCK", block):
                cut = both.on(parser, lambda: report(place, joining(sizes)))  # called here and now
        assert cut == whole
