"""Reverse-mode automatic differentiation of plain NumPy code, on a tape that can be read."""

from yota.api import (
    GradResult,
    grad,
    gradtape,
    simplegrad,
    trace,
    value_and_grad,
)
from yota.cache import cache_info, reset
from yota.check import check_grads
from yota.compiled import compile
from yota.errors import GuardError, RuleError, TapeError, TraceError, YotaError
from yota.higher import hessian, hvp
from yota.jacobians import jacobian
from yota.program import generate_source, observe
from yota.pullbacks import vjp
from yota.rules.registry import defvjp, elementwise, nondiff, primitive, zero
from yota.tracing import array, stop_gradient
from yota.updating import update

__version__ = "0.1.0"

__all__ = [
    "GradResult",
    "GuardError",
    "RuleError",
    "TapeError",
    "TraceError",
    "YotaError",
    "array",
    "cache_info",
    "check_grads",
    "compile",
    "defvjp",
    "elementwise",
    "generate_source",
    "grad",
    "gradtape",
    "hessian",
    "hvp",
    "jacobian",
    "nondiff",
    "observe",
    "primitive",
    "reset",
    "simplegrad",
    "stop_gradient",
    "trace",
    "update",
    "value_and_grad",
    "vjp",
    "zero",
]
