"""Mutants that no test can tell from the rule, each with the reason why."""

from __future__ import annotations

EQUIVALENT: dict[str, str] = {}


def reason_for(name: str) -> str | None:
    """Return why a mutant changes nothing, None where it should."""
    return next((why for part, why in EQUIVALENT.items() if part in name), None)
