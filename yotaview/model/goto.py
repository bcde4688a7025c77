"""What one types behind `:` to go somewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from yota.tape import Tape, Var
from yotaview.model.digits import whole

if TYPE_CHECKING:
    from yotaview.model.stepper import Stepper

PLACES = {
    "+10": "ten ops on, -10 back", "50%": "half way",
    "line ": "the first op of a line, ahead", "seed": "where the reverse pass begins",
    "start": "the first op", "end": "the last op", "nan": "the next alert",
    "call ": "a kept call of this row", "10n": "a key with a count: 10n 3C 46G 2f",
}  # fmt: skip
HELP = "46, +10, -10, 10n, %46, 50%, line 9, seed, start, end, nan or call 731"


class GotoError(Exception):
    """A position that does not exist; the message says what does."""


class Unread(GotoError):
    """A text that names no position at all."""


def find_position(text: str, tape: Tape, stepper: Stepper) -> Stepper:
    """Return the position that `text` names; raises GotoError with the reason."""
    text = text.strip().removeprefix(":").strip()
    word = re.fullmatch(r"line\s+(\d+)", text)
    if word:
        return stepper.goto(_line(whole(word[1]), tape, stepper))
    if not stepper.order:
        raise GotoError("the tape is empty")
    if text in ("start", "end", "seed"):
        return _named(text, tape, stepper)
    return _number(text, tape, stepper)


def _named(text: str, tape: Tape, stepper: Stepper) -> Stepper:
    if text != "seed":
        return stepper.first() if text == "start" else stepper.last()
    seed = tape.seed if tape.seed is not None else tape.reverse_start
    if seed is None:
        raise GotoError("no seed: this tape has no reverse pass")
    return stepper.goto(seed)


def _number(text: str, tape: Tape, stepper: Stepper) -> Stepper:
    if match := re.fullmatch(r"%(\d+)", text):
        return stepper.goto(_op(Var(whole(match[1])), tape))
    if match := re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", text):
        return stepper.percent(min(float(match[1]), 100.0))
    if match := re.fullmatch(r"([+-])(\d+)", text):
        return stepper.next(whole(match[2]) * (1 if match[1] == "+" else -1))
    if match := re.fullmatch(r"(\d+)([nN])", text):
        return stepper.next(whole(match[1]) * (1 if match[2] == "n" else -1))
    if re.fullmatch(r"\d+", text):
        return _index(whole(text), stepper)
    raise Unread(f"cannot go to {text!r}: write {HELP}")


def _op(var: Var, tape: Tape) -> Var:
    if var not in tape:
        last = next(reversed(tape.ops))
        raise GotoError(f"no op {var}: the last one is {last}")
    return var


def _index(number: int, stepper: Stepper) -> Stepper:
    if not 1 <= number <= len(stepper.order):
        raise GotoError(f"no op {number}: the tape has {len(stepper.order)}")
    return stepper.to(number - 1)


def _line(line: int, tape: Tape, stepper: Stepper) -> Var:
    """Return the first op of a line behind the position, else the first on the tape."""
    hits = [v for v, op in tape if any(f.line == line for f in op.origin.frames)]
    if not hits:
        lines = sorted({f.line for _, op in tape for f in op.origin.frames[:1]})
        raise GotoError(
            f"no op comes from line {line}; lines with ops: {', '.join(map(str, lines)) or 'none'}"
        )
    return next((v for v in hits if not stepper.reached(v)), hits[0])
