"""Record what a function of plain NumPy does: boxes over values that answer NumPy's protocols."""

from yota.tracing import dispatch, methods, operators
from yota.tracing.box import Traced, record
from yota.tracing.dispatch import array
from yota.tracing.methods import stop_gradient
from yota.tracing.recorder import Failure, Trace, current
from yota.tracing.views import sync

__all__ = [
    "Failure",
    "Trace",
    "Traced",
    "array",
    "current",
    "dispatch",
    "methods",
    "operators",
    "record",
    "stop_gradient",
    "sync",
]
