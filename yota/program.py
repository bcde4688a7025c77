"""Program: every stage of a tape kept, built when asked for; and who is told of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from yota.tape import Frame, Origin, Tape


class Program:
    def __init__(self, tape: Tape) -> None:
        self.tape = tape


@dataclass(frozen=True)
class Built:
    program: Program


@dataclass(frozen=True)
class CallRecord:
    inputs: tuple[Any, ...]
    value: Any
    gradients: tuple[Any, ...]
    site: tuple[Frame, ...]
    kind: str


@dataclass(frozen=True)
class Called:
    program: Program
    call: CallRecord


@dataclass(frozen=True)
class Failed:
    tape: Tape
    fn: Any
    operands: tuple[Any, ...]
    origin: Origin
    error: BaseException


_observers: list[Callable[[Any], None]] = []


@contextmanager
def observe(callback: Callable[[Any], None]) -> Iterator[None]:
    _observers.append(callback)
    try:
        yield
    finally:
        _observers.remove(callback)


def observed() -> bool:
    return bool(_observers)


def notify(event: Any) -> None:
    for callback in tuple(_observers):
        callback(event)


def generate_source(tape: Tape, passes: Any = None, form: str = "bound") -> str:
    raise RuntimeError("later")


def compile_tape(tape: Tape, passes: Any, form: str) -> Any:
    raise RuntimeError("later")


def standalone(tape: Tape) -> Any:
    raise RuntimeError("later")
