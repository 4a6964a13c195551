"""How many examples hypothesis tries: few by default, many with `make test-thorough`."""

from hypothesis import HealthCheck, settings

# The examples of a test that does not say how many it needs. The numbers that others say are for USUAL.
DEFAULT, USUAL, THOROUGH = 50, 100, 1000


def register_profiles() -> None:
    """Register both profiles, and load the default one; the option --hypothesis-profile loads another."""
    # The same examples in every run, so that a failure can be reproduced.
    common = {"derandomize": True, "deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("searchlab", max_examples=DEFAULT, **common)
    settings.register_profile("thorough", max_examples=THOROUGH, **common)
    settings.load_profile("searchlab")


def examples(usual: int) -> int:
    """The number of examples of a test in the profile that is loaded, given that for a usual run."""
    return max(1, usual * settings().max_examples // USUAL)
