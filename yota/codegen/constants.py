"""Constants as text, where text keeps every bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from yota.codegen.expressions import Expressions, is_readable
from yota.tape import spec_of

_LONGEST = 64


def constant_text(value: Any, write: Expressions) -> str | None:
    """Return text that evaluates to the same bits, None if there is none or it is long."""
    if isinstance(value, np.ndarray):
        if value.size > 1 and not any(value.strides) and is_readable(value[:1]):
            one = constant_text(np.array(value.flat[0]), write)
            return f"{write.np}.broadcast_to({one}, {value.shape})"
        if value.size == 0:
            return f"{write.np}.zeros({value.shape}, {write.dtype(value.dtype)})"
        if value.size > _LONGEST or not is_readable(value) or _layout(value) == "K":
            return None
        order = ", order='F'" if _layout(value) == "F" else ""
        return f"{write.np}.array({value.tolist()}, dtype={write.dtype(value.dtype)}{order})"
    if isinstance(value, np.generic) and not is_readable(value):
        return None
    return write.literal(value)


def _layout(value: Any) -> str:
    return spec_of(value).order
