"""The `aef` command: the contract (09 §9.3) at once, every other command through `aef_verify.cli`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process and return its exit code.

    `aef contract ...` is called once per vector and loads nothing of the commands for people.
    """
    if sys.argv[1:2] == ["contract"]:
        from aef_verify.conformance.contract import main as contract

        return contract(sys.argv[2:])
    from aef_verify.cli import main as commands

    result: object = commands()
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
