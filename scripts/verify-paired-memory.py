#!/usr/bin/env python3
"""Check a paired memory benchmark from outside: drive its command line, break in, and read what it left on disk.

  scripts/verify-paired-memory.py [--cli PROGRAM] [--thorough]

A provider that is scripted answers on 127.0.0.1; nothing else is contacted and no key is needed. The program is called
as a process: with every evidence option, with destinations that are none, with signals at each point at which it can be
interrupted, killed while it writes, and with each fault that a provider can have. Every run and every pair that it
leaves is read by this project's verifier. The first thing that is not as it must be ends the check with exit code 1.

Without --cli the program is this project's own `aef`. A path that ends in `.dll` is run through `dotnet`. What is
particular to this project's command line is not asked of another program: see docs/BENCH.md.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.paired_memory.checks import Check, all_checks
from scripts.paired_memory.lab import Lab, UnmetError
from scripts.paired_memory.program import program_for


def show(check: Check, seen: str, seconds: float) -> None:
    """Print one row of the table."""
    print(f"ok   {seconds:6.1f} s  {check.name}\n                expected  {check.expected}")
    print(f"                seen      {'the same' if seen == check.expected else seen}", flush=True)


def main() -> int:
    """Run every check and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", metavar="PROGRAM", help="the command line to check (default: this project's own)")
    parser.add_argument("--thorough", action="store_true", help="200 kills instead of a few")
    asked = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="aef-paired-"))
    lab = Lab(program_for(asked.cli), scratch)
    begun, done = time.monotonic(), 0
    print(f"Checking {' '.join(lab.program.command)}\n")
    for check in all_checks(lab, thorough=asked.thorough):
        started = time.monotonic()
        try:
            seen = check.perform(lab)
        except UnmetError as fault:
            print(f"FAIL {time.monotonic() - started:6.1f} s  {check.name}")
            print(f"                expected  {fault.expected}\n                seen      {fault.seen}")
            print(f"\n{done} checks passed before. What to look at:\n{fault.look_at}")
            return 1
        except FileNotFoundError as fault:
            shutil.rmtree(scratch)
            print(f"{fault.filename}: cannot be run: {fault.strerror}", file=sys.stderr)
            return 2
        show(check, seen, time.monotonic() - started)
        done += 1
    shutil.rmtree(scratch)
    print(f"\nAll {done} checks passed in {time.monotonic() - begun:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
