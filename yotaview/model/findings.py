"""What a check says about an op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from yota.tape import Var

Level = Literal["alarm", "masked", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line about one op: an alarm reaches a result or a gradient, a masked one does not.

    `cause` is its name, `cure` what to write instead; `element` is the first element concerned.
    """

    check: str
    level: Level
    var: Var
    text: str
    place: str
    function: str
    cause: str = ""
    element: tuple[int, ...] = ()
    cure: str = ""

    @property
    def with_cure(self) -> str:
        """The text, and what to write instead where that is known."""
        return f"{self.text}; cure: {self.cure}" if self.cure else self.text
