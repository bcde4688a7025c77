"""The errors of the engine.

YotaError
├── TraceError   a value left NumPy's sight, or a write would be lost
├── RuleError    no derivative is known for an operation
├── GuardError   a recorded assumption does not hold for these arguments
└── TapeError    an ill-formed tape: a fault of this library
"""

from __future__ import annotations


class YotaError(Exception):
    """Base of every error that this library raises on its own account."""


class TraceError(YotaError):
    """A value left NumPy's sight, or a write to it would be lost."""


class RuleError(YotaError):
    """No derivative is known for an operation that the gradient needs."""


class GuardError(YotaError):
    """The tape was recorded under an assumption that these arguments break."""


class TapeError(YotaError):
    """The tape is ill-formed."""
