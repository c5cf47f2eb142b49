"""How hard a property is tried: profile `ci` by default, `quick` or `thorough` when HYPOTHESIS_PROFILE names it."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
THOROUGH = PROFILE == "thorough"
FACTOR = {"quick": 0.25, "thorough": 25}.get(PROFILE, 1)

_COMMON = settings(
    deadline=None,
    print_blob=True,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example),
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)


def load() -> None:
    """Make the profiles known and take the one that was chosen."""
    settings.register_profile("ci", _COMMON, derandomize=True, database=None)
    settings.register_profile("thorough", _COMMON)
    settings.load_profile("thorough" if THOROUGH else "ci")


def examples(count: int) -> settings:
    """Try a property on so many examples, on a quarter of them or on many more as the profile says."""
    return settings(max_examples=max(1, int(count * FACTOR)))


def at_least(count: int) -> settings:
    """Try a property on no fewer examples than these, which it needs to have seen whatever it asks for."""
    return settings(max_examples=max(count, int(count * FACTOR)))
