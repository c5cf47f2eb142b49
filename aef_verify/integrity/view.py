"""The effective view of a run at a time [OVL-6] to [OVL-9]: what its verified overlays say beside what was sealed.

Sealed states stay as they are and stand beside the effective ones; nothing is recomputed [OVL-7].
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from aef_verify.encoding.times import given_time, time_key
from aef_verify.folder import Folder
from aef_verify.integrity.events import Event
from aef_verify.integrity.facts import Results, read_results, read_run, run_hash
from aef_verify.integrity.overlays import Chain, read_chain
from aef_verify.integrity.redaction import BatchSigners, withheld_blobs
from aef_verify.integrity.seal import read_seal
from aef_verify.problems import Problem, ordered

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy

View = dict[str, Any]


def verify_chain(path: str) -> list[Problem]:
    """Return the problems of a run's overlay chain, ordered [OVL-5]; raises InputError where there is no run folder."""
    with Folder(path) as folder:
        chain = chain_of(folder)
        results = read_results(folder) if any(event.result for event in chain.events) else Results({}, whole=False)
        return ordered(chain.problems(results.states if results.whole else None))


def effective_view(path: str, at: str, *, policy: TrustPolicy | None = None) -> View:
    """Return the effective view of a run, as 09 §9.2.1 lays it out.

    Args:
        path: the run's folder.
        at: the view's time [ENC-8].
        policy: whose signatures count; without one nothing is withheld and every claim is self-attested.

    Raises:
        InputError: no run folder, or `at` is no time.
    """
    now = given_time(at)
    with Folder(path) as folder:
        chain, results = chain_of(folder), read_results(folder)
        return view_of(chain, results, now, BatchSigners(folder, chain, policy), policy)


def chain_of(folder: Folder) -> Chain:
    """Return the overlay chain of a run; its files are hashed at most once, and only where something states a hash."""
    seal = read_seal(folder)
    return read_chain(folder, read_run(folder), cache(lambda: run_hash(folder, seal)))


def view_of(chain: Chain, results: Results, now: str, signers: BatchSigners, policy: TrustPolicy | None) -> View:
    """Return the view of a chain that was read; `now` is a `time_key`."""
    events = chain.effective(results.states if results.whole else None)
    changes = _last(event for event in events if event.kind in ("override", "adjudicate"))
    reviews = _last(event for event in events if event.kind in ("approve", "reject"))
    order = ["r_" + identity.hex() for identity in results.states]
    states = dict(zip(order, results.states.values(), strict=True))
    return {
        "results": [
            {
                "resultId": result,
                "sealedState": states.get(result),
                "effectiveState": event.state,
                "event": event.id,
            }
            for result, event in _in_order(changes, order)
        ],
        "reviews": [
            {"target": target or "run", "status": event.kind, "event": event.id}
            for target, event in _in_order(reviews, ["", *order])
        ],
        "waivers": [_waiver(event, now) for event in events if event.kind == "waive"],
        "withheld": withheld_blobs(chain, signers, policy),
        "unsealedEvents": chain.unsealed,
        "assurance": [
            {
                "event": event.id,
                "shown": "signed" if event.identity in signers.of(chain.batch_of(event)) else "self-attested",
            }
            for event in events
        ],
    }


def _last(events: Any) -> dict[str, Event]:
    """Return the last event for each target: a result id, or an empty string for the run."""
    last: dict[str, Event] = {}
    for event in events:
        last[event.result or ""] = event
    return last


def _in_order(last: dict[str, Event], order: list[str]) -> list[tuple[str, Event]]:
    """Return the targets as `results.ndjson` has them, then those of a file that does not read, as they came."""
    known = [(target, last[target]) for target in order if target in last]
    found = {target for target, _ in known}
    return known + [(target, event) for target, event in last.items() if target not in found]


def _waiver(event: Event, now: str) -> View:
    target = {name: value for name, value in event.target.items() if name not in ("run", "runHash")}
    active = time_key(event.at) <= now < time_key(event.expires or "")
    return {"target": target, "expires": event.expires, "active": active, "event": event.id}
