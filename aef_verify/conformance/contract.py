"""The command-line contract (09 §9.3): one operation a call, one JSON value out, exit 0, 1 or 2.

Rules kept, in this order: arguments are read strictly (an option that is unknown, repeated or without its
value is a usage error), inputs are read, the operation runs, and its value is written once as UTF-8 without
a byte order mark ([CONF-3]). Exit 0: the operation ran, whatever it found. Exit 2: a usage or input error
that is recognised, in one line on standard error. Exit 1: everything else, never mistaken for a refusal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from aef_verify.conformance.operation import Operation
from aef_verify.conformance.operations import READING
from aef_verify.conformance.write_operations import WRITING
from aef_verify.problems import InputError, reason_of
from aef_verify.stdout import abandon_output, write_out


class UsageError(InputError):
    """The call itself is wrong: no such operation or option, or an argument too many or too few."""


OPERATIONS: dict[str, Operation] = {**READING, **WRITING}
"""Every operation of 09 §9.3, by name."""

AS_GIVEN = frozenset(("result-id",))
"""Operations without options: their arguments are text, which may begin with a dash."""


def usage(name: str) -> str:
    """Return the call of an operation in one line."""
    operation = OPERATIONS[name]
    words = [name, *operation.arguments, *(f"[{argument}]" for argument in operation.optional)]
    for option, required in operation.options.items():
        call = f"{option} {option.rpartition('-')[2].upper()}"
        words.append(call if required else f"[{call}]")
    return f"aef contract {' '.join(words)}"


def read_arguments(words: Sequence[str]) -> tuple[Operation, list[str], dict[str, str]]:
    """Return the operation, its arguments and its options; raises UsageError for any other call."""
    if not words:
        raise UsageError(f"name an operation: {', '.join(OPERATIONS)}")
    name, *rest = words
    operation = OPERATIONS.get(name)
    if operation is None:
        raise UsageError(f"no operation {name!r}; there are {', '.join(OPERATIONS)}")
    arguments: list[str] = rest if name in AS_GIVEN else []
    options: dict[str, str] = {}
    waiting = iter(() if name in AS_GIVEN else rest)
    for word in waiting:
        if word == "--":
            arguments.extend(waiting)
        elif word in operation.options:
            value = next(waiting, None)
            if word in options:
                raise UsageError(f"{word} stands twice; {usage(name)}")
            if value is None or value in operation.options or value == "--":
                raise UsageError(f"{word} has no value; {usage(name)}")
            options[word] = value
        elif word.startswith("-"):
            raise UsageError(f"no option {word!r}; {usage(name)}")
        else:
            arguments.append(word)
    if len(arguments) < len(operation.arguments):
        raise UsageError(f"{operation.arguments[len(arguments)]} is missing; {usage(name)}")
    if len(arguments) > len(operation.arguments) + len(operation.optional):
        raise UsageError(f"an argument too many; {usage(name)}")
    for option, required in operation.options.items():
        if required and option not in options:
            raise UsageError(f"{option} is missing; {usage(name)}")
    return operation, arguments, options


def perform(words: Sequence[str]) -> object:
    """Perform one call and return its JSON value.

    Raises:
        InputError: what exits 2. Anything else that is raised is a failure nobody expected (exit 1).
    """
    operation, arguments, options = read_arguments(words)
    return operation.run(arguments, options)


def _say(message: str) -> None:
    """Write one line to standard error, whatever the message holds; one that is gone is no error."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in message)
    try:
        sys.stderr.write(f"aef contract: {line.strip() or 'failed without a message'}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return


def _write(data: bytes) -> bool:
    """Write all of standard output at once; says so and returns False where it cannot be written."""
    try:
        write_out(data)
    except (OSError, ValueError, AttributeError) as fault:
        reason = "it is closed" if sys.stdout is None else reason_of(fault)
        _say(f"standard output cannot be written: {reason}")
        abandon_output()
        return False
    return True


def main(words: Sequence[str]) -> int:
    """Perform `aef contract WORDS`: print its one JSON value and return the exit code (0, 1 or 2)."""
    if list(words) in (["--help"], ["-h"]):
        return 0 if _write("".join(f"{usage(name)}\n" for name in OPERATIONS).encode()) else 1
    try:
        value = perform(words)
        import json

        data = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except InputError as refusal:
        _say(str(refusal))
        return 2
    except KeyboardInterrupt:
        _say("interrupted")
        return 1
    except Exception as failure:
        # Whatever is our own fault is told from a refusal by its exit code.
        return _unexpected(failure)
    return 0 if _write(data + b"\n") else 1


def _unexpected(failure: Exception) -> int:
    """Report a failure nobody expected in one line, with its traceback when AEF_DEBUG=1; returns 1."""
    if os.environ.get("AEF_DEBUG") == "1":
        import traceback

        traceback.print_exception(failure)
    _say(f"unexpected failure: {type(failure).__name__}: {failure}")
    return 1
