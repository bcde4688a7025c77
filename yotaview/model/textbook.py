"""The derivative of a function as a textbook writes it."""

from __future__ import annotations

import inspect
import linecache
from typing import Any

from yota.rules.registry import VJP, zero
from yota.tape import Call, Tape, Var
from yotaview.capture.functions import name_of
from yotaview.model.forms import Opaque

RULES = {
    "abs": "y = |x|  ⇒  δx += δy · sign(x)",
    "absolute": "y = |x|  ⇒  δx += δy · sign(x)",
    "add": "y = a + b  ⇒  δa += δy, δb += δy",
    "arccos": "y = arccos(x)  ⇒  δx −= δy / √(1 − x²)",
    "arcsin": "y = arcsin(x)  ⇒  δx += δy / √(1 − x²)",
    "arctan": "y = arctan(x)  ⇒  δx += δy / (1 + x²)",
    "broadcast_to": "y = x repeated  ⇒  δx += Σ δy over the repeats",
    "cast": "y = x in another dtype  ⇒  δx += δy in the dtype of x",
    "cholesky": "A = L·Lᵀ  ⇒  δA += ½ L⁻ᵀ (P + Pᵀ) L⁻¹ with P = tril(Lᵀ·δL), half its diagonal",
    "clip": "y = min(max(x, lo), hi)  ⇒  δx += δy where lo ≤ x ≤ hi",
    "concatenate": "y = [a, b, …]  ⇒  δa, δb, … are the parts of δy",
    "copy": "y = x  ⇒  δx += δy",
    "cos": "y = cos(x)  ⇒  δx −= δy · sin(x)",
    "cosh": "y = cosh(x)  ⇒  δx += δy · sinh(x)",
    "cumsum": "yᵢ = Σⱼ≤ᵢ xⱼ  ⇒  δxⱼ += Σᵢ≥ⱼ δyᵢ",
    "det": "y = det(A)  ⇒  δA += δy · y · A⁻ᵀ",
    "diag": "y = the diagonal of x  ⇒  δx += δy on the diagonal",
    "diagonal": "y = the diagonal of x  ⇒  δx += δy on the diagonal",
    "divide": "y = a / b  ⇒  δa += δy / b, δb −= δy · a / b²",
    "dot": "y = a·b  ⇒  δa += δy·bᵀ, δb += aᵀ·δy",
    "einsum": "y = Σ a·b  ⇒  δa is the same sum with δy in the place of a",
    "exp": "y = exp(x)  ⇒  δx += δy · exp(x)",
    "exp2": "y = 2ˣ  ⇒  δx += δy · y · ln 2",
    "expand_dims": "y = x with an axis of length 1  ⇒  δx += δy without it",
    "expm1": "y = exp(x) − 1  ⇒  δx += δy · exp(x)",
    "getitem": "y = x[i]  ⇒  δx[i] += δy",
    "identity": "y = x  ⇒  δx += δy",
    "inv": "Y = A⁻¹  ⇒  δA −= Yᵀ·δY·Yᵀ",
    "log": "y = ln(x)  ⇒  δx += δy / x",
    "log10": "y = log₁₀(x)  ⇒  δx += δy / (x · ln 10)",
    "log1p": "y = ln(1 + x)  ⇒  δx += δy / (1 + x)",
    "log2": "y = log₂(x)  ⇒  δx += δy / (x · ln 2)",
    "logaddexp": "y = ln(eᵃ + eᵇ)  ⇒  δa += δy · e^(a−y), δb += δy · e^(b−y)",
    "matmul": "Y = A·B  ⇒  δA += δY·Bᵀ, δB += Aᵀ·δY",
    "max": "y = max x  ⇒  δx += δy at the largest element",
    "maximum": "y = max(a, b)  ⇒  δy goes to the larger one",
    "mean": "y = Σ x / n  ⇒  δx += δy / n",
    "min": "y = min x  ⇒  δx += δy at the smallest element",
    "minimum": "y = min(a, b)  ⇒  δy goes to the smaller one",
    "multiply": "y = a · b  ⇒  δa += δy · b, δb += δy · a",
    "negative": "y = −x  ⇒  δx −= δy",
    "norm": "y = ‖x‖  ⇒  δx += δy · x / y",
    "place": "y = zeros with x at i  ⇒  δx += δy[i]",
    "positive": "y = x  ⇒  δx += δy",
    "power": "y = xᵖ  ⇒  δx += δy · p·xᵖ⁻¹, δp += δy · y·ln x",
    "prod": "y = Π x  ⇒  δxᵢ += δy · Π of the others",
    "reciprocal": "y = 1/x  ⇒  δx −= δy / x²",
    "reshape": "y = x in another shape  ⇒  δx += δy in the shape of x",
    "add_at": "y = x with v added at i  ⇒  δx += δy, δv += δy[i]",
    "scatter": "y = zeros, x added at i  ⇒  δx += δy[i]",
    "setitem": "y = x with v at i  ⇒  δx += δy outside of i, δv += δy[i]",
    "sin": "y = sin(x)  ⇒  δx += δy · cos(x)",
    "sinh": "y = sinh(x)  ⇒  δx += δy · cosh(x)",
    "solve": "A·x = b  ⇒  δb += A⁻ᵀ·δx, δA −= δb·xᵀ",
    "sqrt": "y = √x  ⇒  δx += δy / (2·y)",
    "square": "y = x²  ⇒  δx += δy · 2x",
    "squeeze": "y = x without axes of length 1  ⇒  δx += δy with them",
    "stack": "y = [a, b, …]  ⇒  δa, δb, … are the slices of δy",
    "subtract": "y = a − b  ⇒  δa += δy, δb −= δy",
    "sum": "y = Σ x  ⇒  δx += δy, repeated",
    "swapaxes": "y = x with two axes swapped  ⇒  δx += δy swapped back",
    "tan": "y = tan(x)  ⇒  δx += δy · (1 + y²)",
    "tanh": "y = tanh(x)  ⇒  δx += δy · (1 − y²)",
    "trace": "y = Σ Aᵢᵢ  ⇒  δA += δy on the diagonal",
    "transpose": "y = xᵀ  ⇒  δx += δyᵀ",
    "where": "y = a where c, else b  ⇒  δa += δy where c, δb += δy elsewhere",
}
ALIASES = {
    "sub": "subtract", "mul": "multiply", "truediv": "divide", "true_divide": "divide",
    "neg": "negative", "pos": "positive", "pow": "power", "amax": "max", "amin": "min",
    "astype": "cast", "float_power": "power", "ravel": "reshape", "moveaxis": "transpose",
}  # fmt: skip


def subject(tape: Tape, var: Var) -> Call | None:
    """Return the call whose derivative explains `var`; of a reverse op, what it differentiates."""
    op = tape[var]
    of = op.origin.of if op.origin.wrt is not None else None
    if of is not None and of in tape:
        op = tape[of]
    return op if isinstance(op, Call) else None


def rule_text(tape: Tape, var: Var) -> str:
    """Return a formula such as `sum: y = Σ x  ⇒  δx += δy, repeated`, else the rule's source."""
    call = subject(tape, var)
    if call is None:
        return ""
    name = ALIASES.get(call.name, call.name)
    known = RULES.get(name)
    if known is not None and name_of(call.fn) is not None:
        return f"{call.name}: {known}"
    if isinstance(call.fn, Opaque):
        return f"{call.name}: its derivative is not in the file"
    return _source_of_rule(call, tape[var].origin.wrt)


def _source_of_rule(call: Call, wrt: Var | None) -> str:
    found = VJP.get(call.fn)
    if found is None:
        return f"{call.name}: no derivative"
    position = next((k for k, a in enumerate(call.args) if a == wrt), 0)
    rule = found.rule(position)
    if rule is None or rule is zero:
        return f"{call.name}: its derivative is {'zero' if rule is zero else 'not known'}"
    line = _line_of(inspect.unwrap(rule))
    return f"{call.name}: {line}" if line else call.name


def _line_of(rule: Any) -> str:
    code = getattr(rule, "__code__", None)
    if code is None:
        return ""
    return linecache.getline(code.co_filename, code.co_firstlineno).strip().rstrip(",")
