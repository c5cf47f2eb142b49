"""How hard a property is tried: profile `ci` by default, `thorough` when HYPOTHESIS_PROFILE names it."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
FACTOR = 25 if THOROUGH else 1

_COMMON = settings(
    deadline=None,
    print_blob=True,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example),
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)


def load() -> None:
    """Make both profiles known and take the one that was chosen."""
    settings.register_profile("ci", _COMMON, derandomize=True, database=None)
    settings.register_profile("thorough", _COMMON)
    settings.load_profile("thorough" if THOROUGH else "ci")


def examples(count: int) -> settings:
    """Try a property on so many examples, and on many more where it is tried thoroughly."""
    return settings(max_examples=count * FACTOR)
