"""What can be written at the prompt behind what stands there already."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from yota.tape import Call, Var, base_name, format_call
from yotaview.capture.functions import is_users
from yotaview.model.digits import whole
from yotaview.model.functions import FUNCTIONS
from yotaview.model.goto import PLACES

if TYPE_CHECKING:
    from yotaview.model.session import Session

MOST = 200
BREAKS = {
    "op:": "every op of a function", "fn:": "each run of yours",
    "line:": "each run of a line", "nan": "where a value holds NaN", "inf": "where it is infinite",
    "norm>1e3": "also max min mean std sum ptp size absmax; < <= == != >=",
    "shape": "where the shape is no operand's", "shape:(3,4)": "where the value has this shape",
    "expr:": "where an expression over x holds, as expr:np.ptp(x)>9",
}  # fmt: skip
COMMANDS = {
    "b ": "set a breakpoint: %46, op:log, line:9, nan, %18 if nan …",
    "w ": "watch: %7, δ%7, B0 or np.ptp(%7)",
    "p ": "evaluate once: x is the value at the position",
    "mark ": "set a mark here: a letter",
}
KEYED = {"n": "next, so often", "C": "back over so many stops", "G": "to the op"}


class Choice(NamedTuple):
    """What the prompt may hold next, and what that means or what says so when it is shown."""

    text: str
    told: str | Callable[[], str] = ""

    @property
    def help(self) -> str:
        """What it means."""
        return self.told if isinstance(self.told, str) else self.told()


@dataclass(frozen=True, slots=True)
class Choices:
    """The first of what can be written, and how much there is in all."""

    shown: tuple[Choice, ...] = ()
    total: int = 0


def complete(kind: str, text: str, session: Session) -> Choices:
    """Return what can be written at a prompt of a kind behind `text`."""
    if kind == "evaluate":
        return _behind(text, "", expression_choices, session)
    if kind == "visit":
        return _filtered(_marks(session), text)
    if kind != "goto":
        return Choices()
    plain = text.lstrip().removeprefix(":").lstrip()
    if match := re.match(r"(b|w|p)\s+", plain):
        rest = {"b": break_choices, "w": watch_choices, "p": expression_choices}[match[1]]
        return _behind(plain, match[0], rest, session)
    return _filtered(_goto(plain, session), plain)


def _behind(
    text: str, lead: str, make: Callable[[str, Session], Iterable[Choice]], session: Session
) -> Choices:
    rest = text[len(lead) :]
    found = _filtered(make(rest, session), rest)
    return Choices(tuple(Choice(lead + c.text, c.told) for c in found.shown), found.total)


def _filtered(choices: Iterable[Choice], text: str) -> Choices:
    low = text.lower()
    found = [c for c in choices if c.text.lower().startswith(low)]
    return Choices(tuple(found[:MOST]), len(found))


def _ops(session: Session, lead: str = "%", ops: Iterable[Var] | None = None) -> Iterable[Choice]:
    for var in session.tape.ops if ops is None else ops:
        yield Choice(f"{lead}{var.id}", partial(_name, session, var))


def _goto(text: str, session: Session) -> Iterable[Choice]:
    if text.startswith("line"):
        yield from _lines(session, "line ")
        return
    if text.startswith("call"):
        for call in session.row.calls:
            yield Choice(f"call {call.number}", "kept")
        return
    if text.startswith("%"):
        yield from _ops(session)
        return
    if match := re.match(r"\d+", text):
        yield from _numbered(match[0], session)
        return
    if match := re.match(r"[+-]\d+", text):
        yield Choice(match[0], f"ops {'on' if text[0] == '+' else 'back'}")
        return
    here = session.stepper.index + 1
    yield Choice(str(here), "an op by its place, here the current one; 46G too")
    yield Choice(f"%{session.at.id}", "an op by its number")
    yield from (Choice(t, h) for t, h in (*PLACES.items(), *COMMANDS.items()))
    yield from (Choice(f"'{c.text}", c.help) for c in _marks(session))


def _numbered(digits: str, session: Session) -> Iterable[Choice]:
    order, number = session.stepper.order, whole(digits)
    if 1 <= number <= len(order):
        op = session.tape[order[number - 1]]
        call = format_call(op) if isinstance(op, Call) else order[number - 1]
        yield Choice(digits, f"op {number}: {call}")
    yield from (Choice(f"{digits}{key}", told) for key, told in KEYED.items())
    if number <= 100:
        yield Choice(f"{digits}%", "of the tape")


def _lines(session: Session, lead: str) -> Iterable[Choice]:
    found: dict[int, str] = {}
    for _, op in session.tape:
        for frame in op.origin.frames[:1]:
            if frame.line not in found:
                found[frame.line] = (session.source_line(frame) or base_name(frame.file)).strip()
    return (Choice(f"{lead}{k}", found[k][:60]) for k in sorted(found))


def _marks(session: Session) -> Iterable[Choice]:
    for letter, place in sorted(session.marks.items()):
        yield Choice(letter, session.place_text(place))


def break_choices(text: str, session: Session) -> Iterable[Choice]:
    """Yield the breakpoints that `text` may become."""
    if match := re.match(r"(.*\sif\s+|expr:)", text):
        if match[1] != "expr:":
            yield from (Choice(match[1] + k, h) for k, h in BREAKS.items() if ":" not in k)
        rest = text[len(match[1]) :]
        yield from (Choice(match[1] + c.text, c.told) for c in expression_choices(rest, session))
    elif text.startswith("op:"):
        yield from _counted("op:", session, lambda: (op.name for op in _calls(session)))
    elif text.startswith("fn:"):
        yield from _counted("fn:", session, lambda: _functions(session))
    elif text.startswith("line:"):
        yield from _lines(session, "line:")
    elif text.startswith("%") and len(text) > 1:
        yield from _ops(session)
    else:
        yield Choice(f"%{session.at.id}", "an op by its number, here the current one")
        yield from (Choice(k, h) for k, h in BREAKS.items())


def _calls(session: Session) -> Iterable[Call]:
    return (op for _, op in session.tape if isinstance(op, Call))


def _functions(session: Session) -> Iterable[str]:
    """Yield the user's functions that ops come from, and those that are ops."""
    for _, op in session.tape:
        yield from (f.qualname for f in op.origin.frames if f.qualname != "<module>")
    yield from (op.name for op in _calls(session) if is_users(op))


def _counted(lead: str, session: Session, names: Callable[[], Iterable[str]]) -> Iterable[Choice]:
    counts = session.opened.memo.get(("names", lead))
    if counts is None:
        counts = session.opened.memo["names", lead] = Counter(names())
    for name in sorted(counts):
        yield Choice(lead + name, f"{counts[name]} op{'' if counts[name] == 1 else 's'}")


def watch_choices(text: str, session: Session) -> Iterable[Choice]:
    """Yield what can be watched."""
    if not text:
        yield Choice(f"%{session.at.id}", "this op, and its cotangent as it comes together")
        wrt = session.op.origin.wrt
        if wrt is not None:
            yield Choice(f"δ%{wrt.id}", "the cotangent that this op is part of")
        yield from (
            Choice(n, f"input {v}") for n, v in session.opened.named.items() if n.isidentifier()
        )
        yield Choice("np.ptp(%7)", "an expression over ops")
        return
    if text[0] in "B" and session.row.failure is None:
        for buffer in session.program.plan().buffers:
            yield Choice(buffer.name, f"buffer {list(buffer.shape)}")
    yield from expression_choices(text, session)


def expression_choices(text: str, session: Session) -> Iterable[Choice]:
    """Yield expressions that complete the last word of `text`."""
    match = re.search(r"(?:np\.(?:linalg\.)?)?\w*$|[δd]?%\d*$", text)
    word = match[0] if match else ""
    number = re.search(r"([δd]?)%(\d*)$", text)
    if number is not None:
        head = text[: number.start()]
        ops = session.tape.cotangents if number[1] else None
        yield from _ops(session, f"{head}{number[1]}%", ops)
        return
    head = text[: len(text) - len(word)]
    known = [n for n in session.opened.named if n.isidentifier()]
    words = [
        ("x", "the value of the op"),
        *((n, f"input {session.opened.named[n]}") for n in known),
    ]
    words += [(f"np.{n}(", "") for n in sorted(FUNCTIONS) if n != "getitem"]
    yield from (Choice(head + w, h) for w, h in words)
    if word and not word.startswith("np."):
        bare = (n for n in sorted(FUNCTIONS) if n != "getitem" and "." not in n)
        yield from (Choice(f"{head}{n}(", "") for n in islice(bare, MOST))


def _name(session: Session, var: Var) -> str:
    op = session.tape[var]
    return format_call(op)[:60] if isinstance(op, Call) else f"inp {getattr(op, 'name', '')}"
