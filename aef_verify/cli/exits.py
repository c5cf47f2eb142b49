"""The exit codes of the command line, once."""

from __future__ import annotations

OK = 0
"""Done; for `verify`: every run is intact or unsealed and every overlay chain is sound."""

PROBLEM = 1
"""A problem was found in evidence, or the command itself failed."""

INPUT = 2
"""A usage or input error, or nothing to verify."""

WRITE = 3
"""Something could not be written."""

INTERRUPTED = 130
"""Interrupted from the keyboard."""


class WriteError(Exception):
    """Output could not be written; the message is empty where nobody reads it any more."""
