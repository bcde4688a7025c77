"""Random programs for hypothesis, of real arguments in double precision that every rule accepts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

import yota
from tests.fuzz.build import build
from tests.fuzz.program import Program


@dataclass
class RandomProgram:
    """A random program as a function, with the arguments that it was drawn for."""

    program: Program
    function: Callable[..., Any] = field(init=False)

    def __post_init__(self) -> None:
        self.function = self.program.function()

    @property
    def args(self) -> tuple[Any, ...]:
        return self.program.args()

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    def __repr__(self) -> str:
        return self.program.listing()


def is_accepted(program: RandomProgram) -> bool:
    """Tell whether the gradient is known and finite."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            gradients = yota.grad(program, *program.args)[1]
        except (yota.RuleError, yota.TraceError):
            return False
    return all(g is None or np.all(np.isfinite(g)) for g in gradients)


programs = (
    st.integers(0, 2**32 - 1)
    .map(lambda seed: RandomProgram(build(seed, plain=True)))
    .filter(is_accepted)
)
