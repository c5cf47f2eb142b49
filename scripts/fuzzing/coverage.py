"""Which lines of the project ran so far, cheaply: each is told once. Python 3.12 and later; before, none is told."""

from __future__ import annotations

import sys
from types import CodeType


class Coverage:
    """Counts lines of the project that ran for the first time."""

    def __init__(self) -> None:
        """Begin to listen, where Python can tell."""
        self.count = 0
        self._before = 0
        self._once: object = None
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            self._once = monitoring.DISABLE
            monitoring.use_tool_id(monitoring.COVERAGE_ID, "aef-fuzz")
            monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, self._line)
            monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)

    def grown(self) -> bool:
        """Whether lines ran since the last question that had not run before."""
        grown = self.count > self._before
        self._before = self.count
        return grown

    def _line(self, code: CodeType, line: int) -> object:
        if "aef_verify" in code.co_filename and "strategies" not in code.co_filename:
            self.count += 1
        return self._once
