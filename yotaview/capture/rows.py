"""What a run of the user's script leaves behind: rows of calls, output, error and source text."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from yota.tape import Frame, Origin, Tape, Var, base_name

if TYPE_CHECKING:
    from yota.program import Program
    from yotaview.capture.streams import Output


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a capture; `only` is a function's name or `FILE:LINE` of a call."""

    max_tapes: int = 200
    max_bytes: int = 256 << 20
    timeout: float | None = None
    only: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class KeptCall:
    """One call whose values can be had again: copies of its inputs and captured values.

    `known` holds values that must not be computed again, those of the user's own functions;
    `literals` the floating-point numbers among the operands, in tape order.
    """

    number: int
    inputs: tuple[Any, ...]
    constants: dict[Var, Any]
    value: Any = None
    gradients: tuple[Any, ...] = ()
    known: dict[Var, Any] = field(default_factory=dict)
    literals: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """The operation that raised: as text, where it stands, and the error in a line."""

    text: str
    origin: Origin
    error: str

    @property
    def place(self) -> str:
        """The user's line as `file.py:9`."""
        return self.origin.place


@dataclass(slots=True, eq=False)
class Row:
    """All calls of one function, from one line, with one structure."""

    name: str
    site: Frame | None
    program: Program | None
    tape: Tape
    kind: str = "grad"
    calls: list[KeptCall] = field(default_factory=list)
    count: int = 0
    values: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    nonfinite: list[int] = field(default_factory=list)
    failure: Failure | None = None
    literals: tuple[Any, ...] = ()
    by_key: dict[str, array[float]] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The line of the call as `file.py:14`, empty where unknown."""
        return "" if self.site is None else f"{base_name(self.site.file)}:{self.site.line}"

    @property
    def has_gradient(self) -> bool:
        """Tell whether the tape has a reverse pass."""
        return self.tape.reverse_start is not None

    @property
    def forward_count(self) -> int:
        """How many ops are not of the reverse pass; inputs and constants count."""
        return len(self.tape) - self.reverse_count

    @property
    def reverse_count(self) -> int:
        """How many ops are of the reverse pass; the seed counts."""
        return sum(map(self.tape.is_reverse, self.tape.ops)) if self.has_gradient else 0

    def value_of(self, number: int | None = None) -> float | None:
        """Return the value of a call, the last one by default; None where it is no number."""
        return self._of_call(self.values, number)

    def norm_of(self, number: int | None = None) -> float | None:
        """Return the norm of the gradient of a call, the last one by default; None if unknown."""
        return self._of_call(self.norms, number)

    def _of_call(self, history: list[float], number: int | None) -> float | None:
        index = len(history) - 1 if number is None else number - 1
        return history[index] if 0 <= index < len(history) else None

    @property
    def kept_text(self) -> str:
        """How many of the calls are kept, as `24 of 1,000 calls kept`; empty if all are."""
        kept = len(self.calls)
        return "" if kept == self.count else f"{kept:,} of {self.count:,} calls kept"

    def opening_call(self) -> int:
        """Return the index in `calls` of the first that is not finite, else the last."""
        wanted = set(self.nonfinite)
        for index, call in enumerate(self.calls):
            if call.number in wanted:
                return index
        return len(self.calls) - 1


@dataclass(slots=True, eq=False)
class Capture:
    """One run of a script; `left_out` names the functions that `--capture` excluded.

    `standing` says where the screen stood that wrote this session.
    """

    script: str
    argv: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    printed: str = ""
    error: str | None = None
    exit_code: int = 0
    seconds: float = 0.0
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cut: str | None = None
    interrupted: bool = False
    timed_out: bool = False
    module: bool = False
    lesson: str = ""
    left_out: tuple[str, ...] = ()
    standing: str = ""
    heard: Output | None = field(default=None, repr=False)

    @property
    def output(self) -> str:
        """What the script printed up to now: its threads may still print."""
        return self.printed if self.heard is None else self.heard.text

    def add_output(self, text: str) -> None:
        """Keep what the script prints after its end, within the limit of all it printed."""
        if self.heard is not None:
            self.heard.add(text)

    @property
    def name(self) -> str:
        """The script's file name without its folder."""
        return base_name(self.script)

    def opening_row(self) -> int:
        """Return the index of the most urgent row: one that raised, one with NaN, else the last.

        A row without ops cannot be opened: it is chosen only where there is no other.
        """
        full = [k for k, row in enumerate(self.rows) if len(row.tape)]
        raised = [k for k in full if self.rows[k].failure is not None]
        bad = [k for k in full if self.rows[k].nonfinite]
        return next(iter((*raised, *bad, *full[-1:])), len(self.rows) - 1)

    def origin_files(self) -> Iterator[str]:
        """Yield every file named in the capture, repeated as they stand."""
        for row in self.rows:
            yield from (f.file for f in (row.site,) if f is not None)
            if row.failure is not None:
                yield from (f.file for f in row.failure.origin.frames)
            for _, op in row.tape:
                yield from (f.file for f in op.origin.frames)
