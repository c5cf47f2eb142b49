"""Settings of the properties: bounded and the same each time, or thorough where HYPOTHESIS_PROFILE says so."""

from __future__ import annotations

from tests.properties import effort

effort.load()
