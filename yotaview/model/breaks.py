"""Breakpoints as one writes them: where, and on what condition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from yota.tape import Var
from yotaview.model import digits
from yotaview.model.expressions import Expression, ExpressionError, read_expression

FORMS = (
    "%46, op:log, fn:name, line:9, file.py:9, nan, inf, norm>1e3, shape, shape:(3,4), "
    "expr:np.ptp(x)>9, %18 if nan"
)
Kind = Literal["every", "number", "op", "fn", "line"]
Test = Literal["", "nan", "inf", "shape", "expr"]
FACTS = {"norm": "norm(x)", "absmax": "absmax(x)"} | {
    name: f"{name}(x)" for name in ("max", "min", "mean", "std", "sum", "ptp", "size")
}
FACT = re.compile(rf"({'|'.join(FACTS)})\s*(>=|<=|==|!=|>|<)\s*([-+\w.]+)")
FILE = re.compile(r"(?:line[: ]\s*(\d+)|([^\s:%]+\.\w+|<[^>]+>):(\d+))")


class BreakError(ValueError):
    """A breakpoint that cannot be read; the text says what can."""


class UnreadBreak(BreakError):
    """What is written has none of the forms of a breakpoint."""


@dataclass(frozen=True, slots=True)
class Where:
    """Which ops are meant: all, one by its number, by function, by the user's function or line."""

    kind: Kind
    name: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class When:
    """What the op's value must be: `shape` without a shape means one that no operand has."""

    test: Test = ""
    shape: tuple[int, ...] | None = None
    expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class Break:
    """A breakpoint as written, with what it means."""

    text: str
    where: Where
    when: When

    @property
    def names(self) -> tuple[str, ...]:
        """The ops and inputs that the condition reads beside `x`."""
        found = self.when.expression.names if self.when.expression is not None else ()
        return tuple(n for n in found if n != "x")

    @property
    def is_local(self) -> bool:
        """Tell whether it means ops of one tape by their numbers or names."""
        return self.where.kind == "number" or bool(self.names)


def parse_break(text: str) -> Break:
    """Read a breakpoint such as `%46`, `line:9 if nan` or `norm>1e3`; raises BreakError."""
    text = " ".join(text.split())
    left, word, right = ("", "", text) if text.startswith("expr:") else text.partition(" if ")
    if word:
        where = _where(left.strip())
        if where is None:
            raise UnreadBreak(f"cannot read breakpoint {left!r} in {text!r}: write {FORMS}")
        return Break(text, where, _when(right.strip(), text, bare=True))
    plain = text if not text.startswith("expr:") else ""
    where = _where(plain) if plain else None
    if where is not None:
        return Break(text, where, When())
    return Break(text, Where("every"), _when(text, text, bare=False))


def _where(text: str) -> Where | None:
    if match := re.fullmatch(r"%?(\d{1,9})", text):
        return Where("number", number=int(match[1]))
    if match := re.fullmatch(r"(op|fn):([\w.<>]+)", text):
        return Where("op" if match[1] == "op" else "fn", match[2])
    if match := FILE.fullmatch(text):
        return Where("line", match[2] or "", digits.whole(match[1] or match[3]))
    return None


def _when(text: str, whole: str, *, bare: bool) -> When:
    if text in ("nan", "inf", "shape"):
        return When(text)  # type: ignore[arg-type]  # one of the three
    if match := re.fullmatch(r"shape\s*:\s*[\[(]?([\d\s,]*)[\])]?", text):
        numbers = [n for n in match[1].replace(",", " ").split() if n]
        return When("shape", tuple(map(digits.whole, numbers)))
    if match := FACT.fullmatch(text):
        text = f"expr:{FACTS[match[1]]} {match[2]} {match[3]}"
    elif not bare and not text.startswith("expr:"):
        raise UnreadBreak(f"cannot read breakpoint {whole!r}: write {FORMS}")
    try:
        return When("expr", expression=read_expression(text.removeprefix("expr:")))
    except ExpressionError as error:
        raise BreakError(str(error)) from error


def number_of(name: str) -> Var | None:
    """Return the op of a name such as `%7` or `δ%7`, None for that of an input."""
    match = re.fullmatch(r"δ?%(\d+)", name)
    return Var(digits.whole(match[1])) if match else None
