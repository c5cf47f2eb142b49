"""The `aef` command: the contract (09 §9.3) at once, every other command through `aef_verify.cli`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End this process at once, when all output is written.

    The interpreter's own way out takes apart every module first, a fifth of the time that a small run takes.
    """
    for stream in (sys.stdout, sys.stderr):
        # A stream is None where the process was started without it.
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def main() -> int:
    """Run the command line of this process and return its exit code.

    `aef contract ...` is called once per vector and loads nothing of the commands for people.
    """
    called, interrupted = "aef", 130
    try:
        if sys.argv[1:2] == ["contract"]:
            called, interrupted = "aef contract", 1
            from aef_verify.conformance.contract import main as contract

            leave(contract(sys.argv[2:]))
        from aef_verify.cli import main as commands

        result: object = commands()
    except KeyboardInterrupt:
        # While modules were still being loaded: both commands have their own words for any later one.
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"{called}: interrupted\n")
        leave(interrupted)
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
