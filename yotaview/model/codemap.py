"""Which line of the generated code computes which op, in a loop in which round, and back."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from yota.codegen import Source
from yota.tape import Call, Tape, Var


@dataclass(frozen=True, slots=True)
class Stop:
    """A line that computes an op; in a loop the `round` of `rounds`, counted from 1."""

    line: int
    var: Var
    round: int = 0
    rounds: int = 0
    loop: int = 0


class CodeMap:
    """The lines of one form of the code in the order in which they run, loops round by round."""

    def __init__(self, source: Source, code: Tape) -> None:
        self.source, self.code = source, code
        self.texts = split(source)
        own = {n: [v for v in vars_ if v in code] for n, vars_ in source.ops_of.items()}
        self.own = {n: vars_ for n, vars_ in sorted(own.items()) if vars_}
        self.loops = {n: self._loop(n) for n, vars_ in self.own.items() if len(vars_) > 1}
        self.stops = list(self._ordered())
        self.lines = sorted(self.own)
        self._at = {s.var: k for k, s in enumerate(self.stops)}
        for number, vars_ in self.own.items():
            if len(vars_) > 1 and not self.loops[number]:
                self._at |= dict.fromkeys(vars_, self._at[vars_[0]])

    def _loop(self, number: int) -> int:
        """Return the line of the `for` around a line, 0 if there is none."""
        depth = _depth(self.texts[number - 1])
        for k in range(number - 1, 0, -1):
            text = self.texts[k - 1]
            if text.strip() and _depth(text) < depth:
                return k if text.lstrip().startswith("for ") else 0
        return 0

    def _ordered(self) -> Sequence[Stop]:
        found: list[Stop] = []
        done: set[int] = set()
        for number, vars_ in self.own.items():
            loop = self.loops.get(number, 0)
            if not loop:
                found.append(Stop(number, vars_[0]))
            elif loop not in done:
                done.add(loop)
                lines = [n for n, where in self.loops.items() if where == loop]
                count = max(len(self.own[n]) for n in lines)
                found += [
                    Stop(n, self.own[n][k], k + 1, count, loop)
                    for k in range(count)
                    for n in lines
                    if k < len(self.own[n])
                ]
        return found

    def stop_of(self, var: Var | None) -> Stop | None:
        """Return the line and round of an op, None where no line computes it."""
        k = self._at.get(var) if var is not None else None
        return None if k is None else self.stops[k]

    @cached_property
    def users(self) -> dict[Var, list[Var]]:
        """The readers of each op of the code."""
        return self.code.users()

    def place_of(self, var: Var | None) -> Stop | None:
        """Return the line at which an op counts as run: for a view made once that of its user."""
        stop, seen = self.stop_of(var), var
        while seen is not None and (stop is None or self.is_made_once(seen, stop)):
            onward = next(iter(self.users.get(seen, ())), None)
            if onward is None:
                break
            seen, stop = onward, self.stop_of(onward)
        return stop

    def is_made_once(self, var: Var, stop: Stop) -> bool:
        """Tell whether an op is computed with the memory, before any call."""
        return isinstance(self.code[var], Call) and stop.line < self.source.prologue.start

    def next(self, stop: Stop | None, line: int, step: int) -> Stop | None:
        """Return the next or previous stop: of a stop, else of a line that computes nothing."""
        if stop is not None:
            k = self._at[stop.var] + step
            return self.stops[k] if 0 <= k < len(self.stops) else None
        at = bisect_left(self.lines, line)
        at = at if step > 0 else at - 1
        if not 0 <= at < len(self.lines):
            return None
        return self.on_line(self.lines[at], None)

    def on_line(self, number: int, here: Stop | None) -> Stop | None:
        """Return the stop on a line: in the round of `here` where both are in one loop."""
        vars_ = self.own.get(number)
        if not vars_:
            return None
        loop = self.loops.get(number, 0)
        k = here.round - 1 if here is not None and loop and here.loop == loop else 0
        return self.stops[self._at[vars_[min(k, len(vars_) - 1)]]]

    def shown_on(self, number: int, here: Stop | None) -> tuple[Var, ...]:
        """Return the ops to name beside a line, those of the present round in a loop."""
        loop = self.loops.get(number, 0)
        vars_ = self.own.get(number, [])
        if len(vars_) < 2:
            return self.source.ops_of.get(number, ())
        if loop and here is not None and here.loop == loop:
            return (vars_[min(here.round, len(vars_)) - 1],)
        return (vars_[0], vars_[-1])


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def split(source: Source) -> tuple[str, ...]:
    """Return the lines of generated code."""
    return tuple(source.text.rstrip("\n").split("\n"))
