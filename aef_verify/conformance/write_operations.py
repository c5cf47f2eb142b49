"""The operations of the contract that write (09 §9.3): each refuses before anything is written.

Every operation imports only what it needs: the contract is called once per vector.
"""

from __future__ import annotations

from collections.abc import Sequence

from aef_verify.conformance.operation import Operation, Options, time_given


def _seal_write(arguments: Sequence[str], options: Options) -> object:
    sealed_at = time_given(options, "--sealed-at")
    from aef_verify.writing.seal import seal_run

    return {"runHash": seal_run(arguments[0], sealed_by=options["--sealed-by"], sealed_at=sealed_at)}


def _sign(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.writing.sign import sign_file

    return sign_file(arguments[0], arguments[1], options["--payload-type"])


def _summarize(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.writing.shape import read_given_object
    from aef_verify.writing.summarize import read_request, summarize_run

    folder, request = arguments
    return summarize_run(folder, read_request(read_given_object(request)))


def _produce(arguments: Sequence[str], options: Options) -> object:
    from aef_verify.writing.produce import produce_file

    scenario, out = arguments
    return {"results": produce_file(scenario, out)}


def _job(arguments: Sequence[str], options: Options) -> object:
    at = time_given(options, "--at")
    from aef_verify.runner.job import run_job

    plan, runner, target, out = arguments
    return {"events": run_job(plan, runner, target, out, at=at).events}


WRITING: dict[str, Operation] = {
    "summarize": Operation(_summarize, ("DIR", "REQUEST")),
    "produce": Operation(_produce, ("SCENARIO", "OUT")),
    "seal-write": Operation(_seal_write, ("DIR",), {"--sealed-by": True, "--sealed-at": True}),
    "job": Operation(_job, ("PLAN", "RUNNER", "TARGET", "OUT"), {"--at": True}),
    "sign": Operation(_sign, ("FILE", "KEY"), {"--payload-type": True}),
}
"""The operations that write, by name."""
