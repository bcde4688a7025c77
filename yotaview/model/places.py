"""Rows, calls and ops by what they are: words that mean the same after the script was changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from yota.tape import Call, Constant, Input, Tape, Var
from yotaview.capture import Capture

LONGEST = 200


@dataclass(frozen=True, slots=True)
class OpPlace:
    """An op by its number and by what it is: function, phase, statement, and which of those.

    An input's statement is its name.  `within` is the user's function, of whose `count` ops of
    this name and phase it is number `kth`.
    """

    number: int
    name: str
    reverse: bool
    statement: str
    nth: int
    within: str = ""
    kth: int = 0
    count: int = 0

    @property
    def told(self) -> str:
        """What it was, in words."""
        if self.name in ("input", "constant"):
            return f"{self.name} {self.statement}".strip()
        phase = "reverse " if self.reverse else ""
        return f"{phase}{self.name}" + (f" of {self.statement}" if self.statement else "")


@dataclass(frozen=True, slots=True)
class RowPlace:
    """A row by the name of its function, and which of those of that name."""

    name: str
    nth: int


@dataclass(frozen=True, slots=True)
class _Rank:
    nth: int
    kth: int


class Names:
    """The ops of a tape by what they are."""

    def __init__(self, tape: Tape, sources: Mapping[str, tuple[str, ...]]) -> None:
        self.tape, self.sources = tape, sources
        self.same: dict[tuple[str, bool, str], list[Var]] = {}
        self.inside: dict[tuple[str, bool, str], list[Var]] = {}
        self._ranks: dict[Var, _Rank] = {}
        for var in tape.ops:
            alike = self.same.setdefault(self._key(var), [])
            among = self.inside.setdefault(self._function_key(var), [])
            self._ranks[var] = _Rank(len(alike), len(among))
            alike.append(var)
            among.append(var)

    def _key(self, var: Var) -> tuple[str, bool, str]:
        return op_name(self.tape, var), self.tape.is_reverse(var), self._statement(var)

    def _function_key(self, var: Var) -> tuple[str, bool, str]:
        return op_name(self.tape, var), self.tape.is_reverse(var), self._within(var)

    def _statement(self, var: Var) -> str:
        """Return the user's line that an op comes from; of an input or captured value its name."""
        op = self.tape[var]
        if isinstance(op, Input | Constant) and op.name:
            return op.name[:LONGEST]
        frames = op.origin.frames
        return line_text(self.sources, frames[0].file, frames[0].line) if frames else ""

    def _within(self, var: Var) -> str:
        frames = self.tape[var].origin.frames
        return frames[0].qualname[:LONGEST] if frames else ""

    @cached_property
    def positions(self) -> dict[Var, int]:
        """Where each op stands on the tape."""
        return {v: k for k, v in enumerate(self.tape.ops)}

    def place(self, var: Var) -> OpPlace:
        """Return an op by its number and by what it is."""
        name, reverse, statement = self._key(var)
        key, rank = self._function_key(var), self._ranks[var]
        among = len(self.inside[key])
        return OpPlace(
            var.id, name[:LONGEST], reverse, statement, rank.nth, key[2], rank.kth, among
        )

    def find(self, place: OpPlace) -> Var | None:
        """Return the op that is the same in this run; None where the script has no such op.

        Where its statement was changed, it is the same one among as many in the same function.
        """
        alike = self.same.get((place.name, place.reverse, place.statement), [])
        if alike:
            return alike[place.nth] if place.nth < len(alike) else None
        if place.name in ("input", "constant"):
            return None
        among = self.inside.get((place.name, place.reverse, place.within), [])
        return among[place.kth] if place.kth < len(among) == place.count else None

    def near(self, place: OpPlace) -> Var | None:
        """Return the same op, else one of the same kind or statement, or of the same number."""
        found = self.find(place)
        if found is not None:
            return found
        alike = self.same.get((place.name, place.reverse, place.statement), [])
        if alike:
            return alike[-1]
        every = (v for (_, _, text), vs in self.same.items() if text == place.statement for v in vs)
        if place.statement and (first := min(every, default=None)) is not None:
            return first
        number = Var(place.number)
        same = number in self.tape and op_name(self.tape, number) == place.name
        return number if same and not place.statement else None


def line_text(sources: Mapping[str, tuple[str, ...]], file: str, number: int) -> str:
    """Return a line of the user's code as it was at capture, without its margins; '' if unknown."""
    lines = sources.get(file, ())
    return lines[number - 1].strip()[:LONGEST] if 0 < number <= len(lines) else ""


def op_name(tape: Tape, var: Var) -> str:
    """Return the name of an op's function, or the kind of what is no call."""
    op = tape[var]
    return op.name if isinstance(op, Call) else type(op).__name__.lower()


class Ground:
    """The rows of a run by what they are, and the ops on each."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self._names: dict[int, Names] = {}

    def names(self, row: int) -> Names:
        """Return the ops of a row."""
        if row not in self._names:
            self._names[row] = Names(self.capture.rows[row].tape, self.capture.sources)
        return self._names[row]

    def alike(self, name: str) -> list[int]:
        """Return the rows of a function that can be opened."""
        rows = self.capture.rows
        return [k for k, row in enumerate(rows) if row.name == name and len(row.tape)]

    def row_place(self, row: int) -> RowPlace:
        """Return a row by what it is."""
        name = self.capture.rows[row].name
        return RowPlace(name, self.alike(name).index(row))

    def find_row(self, place: RowPlace) -> int | None:
        """Return the row that is the same in this run, None where there is none."""
        alike = self.alike(place.name)
        return alike[place.nth] if place.nth < len(alike) else None

    def near_row(self, place: RowPlace) -> int | None:
        """Return the same row, else the last one of the same function."""
        found = self.find_row(place)
        return found if found is not None else next(reversed(self.alike(place.name)), None)

    def number_of(self, row: int, call: int) -> int | None:
        """Return the number of a kept call by its index, None where the row has none."""
        calls = self.capture.rows[row].calls
        return calls[call].number if calls else None

    def near_call(self, row: int, number: int | None) -> int:
        """Return the index of the kept call of this number, else of the nearest one."""
        calls = self.capture.rows[row].calls
        if number is None or not calls:
            return 0
        return min(range(len(calls)), key=lambda k: abs(calls[k].number - number))
