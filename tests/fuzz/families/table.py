"""Which maker draws a call of which function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fuzz.draw import Block, Draw
from tests.fuzz.program import DEFINED

Maker = Callable[[Draw, str], str | Block]
# Functions of the table that no call of a user's is recorded as, with the reason.
EXCUSED = {
    "yota.scipy.integrate.integrated": "takes a function of the user's",
}
MAKERS: dict[Callable[..., Any], tuple[str, Maker]] = {}


def makes(names: str) -> Callable[[Maker], Maker]:
    """Register the maker of calls of these functions, as far as this NumPy has them."""

    def register(maker: Maker) -> Maker:
        for name in names.split():
            try:
                MAKERS[eval(name, DEFINED)] = (name, maker)
            except (AttributeError, NameError):
                continue
        return maker

    return register
