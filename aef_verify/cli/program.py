"""The group of all commands: loads only the command that is called, and turns every end into an exit code.

Whatever goes wrong is one line on standard error, escaped, and the exit code that `exits` gives it. A traceback is
printed only under `--debug` or AEF_DEBUG=1.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

import click
from click.exceptions import NoArgsIsHelpError

from aef_verify.cli.exits import INPUT, INTERRUPTED, OK, PROBLEM, WRITE, WriteError
from aef_verify.cli.output import say
from aef_verify.problems import InputError, reason_of
from aef_verify.product import NAME, version
from aef_verify.stdout import abandon_output


class Commands(MutableMapping[str, click.Command]):
    """Commands by name, each in the module of that name, which is imported when the command is asked for."""

    def __init__(self, summaries: Mapping[str, str]) -> None:
        """Take each command's summary for the list of commands."""
        self.summaries = dict(summaries)
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        """Return a command; raises KeyError where there is none."""
        if name not in self._loaded:
            if name not in self.summaries:
                raise KeyError(name)
            home = name.replace("-", "_")
            found = getattr(import_module(f"aef_verify.cli.{home}"), home)
            assert isinstance(found, click.Command)
            self._loaded[name] = found
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        """Add a command."""
        self.summaries.setdefault(name, command.get_short_help_str(200))
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        """Remove a command."""
        del self.summaries[name]
        self._loaded.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        """Yield the names in the order given."""
        return iter(self.summaries)

    def __len__(self) -> int:
        """Return how many commands there are."""
        return len(self.summaries)


class _InterruptedError(Exception):
    """The command was interrupted, and with which exit code it ends."""

    def __init__(self, code: int = INTERRUPTED) -> None:
        super().__init__()
        self.code = code


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM end a command as an interrupt does, so that worker processes and temporary files are gone then."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Program(click.Group):
    """The `aef` command."""

    def __init__(self, *, name: str, help: str, commands: Commands) -> None:
        """Make the group; `help` is what its own help says."""
        options: list[click.Parameter] = [
            click.Option(["--debug"], is_flag=True, help="Print the traceback of a failure nobody expected."),
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_print_version,
                help="Print the version and exit.",
            ),
        ]
        super().__init__(
            name,
            commands,
            help=help,
            params=options,
            callback=_start,
            context_settings={"max_content_width": 100},
        )
        self.summaries = commands.summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order given."""
        return list(self.summaries)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def make_context(self, *words: Any, **extra: Any) -> click.Context:
        """Read the command line; its help is printed here, to a reader who may have gone."""
        try:
            return super().make_context(*words, **extra)
        except BrokenPipeError:
            abandon_output()
            raise WriteError from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what click would end in its own way is raised as what `main` ends in ours."""
        with _terminated_as_interrupted():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt as interrupt:
                raise _InterruptedError(*interrupt.args) from None
            except BrokenPipeError:
                abandon_output()
                raise WriteError from None

    def main(  # type: ignore[override]  # standalone or not decides between an exit and a return
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> int:
        """Run the command line; exits with the code, or returns it where `standalone_mode` is False."""
        words = sys.argv[1:] if args is None else list(args)
        code = self._code(words, prog_name or self.name, complete_var, extra)
        if standalone_mode:
            sys.exit(code)
        return code

    def _code(self, words: list[str], prog_name: str | None, complete_var: str | None, extra: Mapping[str, Any]) -> int:
        called = " ".join(filter(None, (prog_name, next((word for word in words if word in self.summaries), ""))))
        try:
            code = super().main(words, prog_name, complete_var, standalone_mode=False, **extra)
            return code if isinstance(code, int) else OK
        except NoArgsIsHelpError as fault:
            click.echo(fault.format_message(), err=True)
            return INPUT
        except click.UsageError as fault:
            called = fault.ctx.command_path if fault.ctx is not None else called
            return _failed(called, f"{fault.format_message()} (see `{called} --help`)", INPUT)
        except click.ClickException as fault:
            return _failed(called, fault.format_message(), INPUT)
        except InputError as fault:
            return _failed(called, str(fault), INPUT)
        except WriteError as fault:
            return _failed(called, str(fault), WRITE)
        except _InterruptedError as interrupt:
            return _failed(called, "interrupted", interrupt.code)
        except (click.Abort, KeyboardInterrupt):
            return _failed(called, "interrupted", INTERRUPTED)
        except OSError as fault:
            if fault.filename is not None:
                return _unexpected(called, fault)
            abandon_output()
            return _failed(called, f"output could not be written: {reason_of(fault)}", WRITE)
        except Exception as failure:
            return _unexpected(called, failure)


def _unexpected(called: str, failure: Exception) -> int:
    """Report a failure nobody expected in one line, after its traceback if that is wanted."""
    if os.environ.get("AEF_DEBUG") == "1":
        import traceback

        traceback.print_exception(failure)
    return _failed(
        called, f"unexpected failure: {type(failure).__name__}: {failure}; `aef --debug` shows where", PROBLEM
    )


def _failed(called: str, message: str, code: int) -> int:
    if message:
        say(f"{called}: {message}")
    return code


def _start(debug: bool) -> None:
    """Begin a call; worker processes take the setting from the environment."""
    if debug:
        os.environ["AEF_DEBUG"] = "1"


def _print_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or context.resilient_parsing:
        return
    from aef_verify.cli.output import write_text

    write_text(f"{implementation()}, for AEF 1.0\n")
    context.exit()


def implementation() -> str:
    """Return the name and version of this implementation."""
    return f"{NAME} {version()}"
