"""An agent that sends its own process a signal at one point of the benchmark, which AEF_CHECK_STOP names.

The signal is a real one, and it comes at exactly that point: no clock decides. Everything else is `full-history`.
"""

from __future__ import annotations

import os
import signal
from typing import Any

from aef_verify.memory import bench
from aef_verify.memory.agents import FullHistory

NAME = "AEF_CHECK_STOP"
POINTS = ("before-preparation", "before-first-question", "between-arms", "oracle-prepared")


def factory(model: Any) -> FullHistory:
    """Make the agent."""
    return FullHistory(model)


def _stop_at(name: str, at: int) -> None:
    """Have the benchmark interrupted right before the `at`-th call of one of its functions."""
    names: dict[str, Any] = vars(bench)
    function = names[name]
    calls = 0

    def called(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGINT)
        return function(*arguments, **named)

    names[name] = called


_POINT = os.environ[NAME]
if _POINT == "before-preparation":
    os.kill(os.getpid(), signal.SIGINT)
elif _POINT == "before-first-question":
    _stop_at("run_arm", 1)
elif _POINT == "between-arms":
    _stop_at("project", 1)
elif _POINT == "oracle-prepared":
    _stop_at("run_arm", 2)
