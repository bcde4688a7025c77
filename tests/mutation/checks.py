"""The tests of the rules as functions, with what code of the rules each of them runs."""

from __future__ import annotations

import contextlib
import functools
import io
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.config import parse_warning_filter

from tests.mutation.mutant import forget, number_of
from yota.rules.registry import VJP, Vjp, zero

ROOT = Path(__file__).parents[2]
TESTS = (
    "tests/yota/rules", "tests/yota/scipy", "tests/yota/test_reverse.py",
    "tests/yota/test_in_place.py",
)  # fmt: skip
# Tests that are tried last, on what the others let live: they differentiate twice, or compile.
SLOW = (
    "second_derivative", "every_form_of_code", "is_the_rules_answer", "recursion", "to_the_bit",
    "test_variations", "test_sessions", "test_optional", "test_integrate",
)  # fmt: skip
# What is drawn at random is drawn alike each time.
ALIKE = ("--collect-only", "-q", "-n0", "--hypothesis-profile=ci")
# A test may take so many seconds more than it took without a fault.
SPARE, LONGEST = 5.0, 120.0


@dataclass(eq=False)
class Check:
    """One test with its parameters."""

    name: str
    run: Callable[[], None] = field(repr=False)
    touched: frozenset[Any] = field(default=frozenset(), repr=False)
    seconds: float = 0.0
    limit: float = SPARE
    # Filters of warnings, as marks of tests give them.
    tolerated: tuple[str, ...] = ()

    @property
    def is_slow(self) -> bool:
        return any(word in self.name for word in SLOW)

    @property
    def sample(self) -> str:
        """The parameters as they stand in the name: tests of one sample share them."""
        return self.name.partition("[")[2]

    def passes(self) -> bool:
        """Tell whether the test passes; what takes too long does not."""
        try:
            with quiet(self.tolerated), time_limit(self.limit):
                self.run()
        except Exception:
            return False
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            return isinstance(error, pytest.skip.Exception)  # a test left out caught no fault
        return True


@contextlib.contextmanager
def quiet(tolerated: Iterable[str] = ()) -> Iterator[None]:
    """Set NumPy and warnings as the tests have them."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in tolerated:
            warnings.filterwarnings(*parse_warning_filter(text, escape=False))
        yield


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError where the body takes too long."""
    running = [True]

    def stop(*_: Any) -> None:
        if running[0]:
            raise TimeoutError

    # The handler stays: an alarm that is on its way must not meet the default, which ends it all.
    signal.signal(signal.SIGALRM, stop)
    # It comes again, for what is raised while garbage is collected is lost.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        running[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0)


class Collected:
    """A plugin that keeps the tests that pytest finds."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def pytest_collection_finish(self, session: Any) -> None:
        self.items = list(session.items)


def collect(paths: Iterable[str] = TESTS) -> list[Check]:
    """Return the tests at these paths that need nothing but their parameters."""
    plugin = Collected()
    found = [str(ROOT / p) for p in paths if (ROOT / p).exists()]
    with contextlib.redirect_stdout(io.StringIO()):
        code = pytest.main([*ALIKE, "-p", "no:cacheprovider", *found], [plugin])
    if code != 0:
        raise RuntimeError(f"pytest could not collect the tests of the rules (exit code {code})")
    return [c for item in plugin.items if (c := as_check(item)) is not None]


def as_check(item: Any) -> Check | None:
    params = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    if set(getattr(item, "fixturenames", ())) - {"quiet_numpy", "request"} - set(params):
        return None
    tolerated = tuple(text for mark in item.iter_markers("filterwarnings") for text in mark.args)
    return Check(item.nodeid, lambda: item.obj(**params), tolerated=tolerated)


def observe(checks: list[Check], files: set[str]) -> None:
    """Run each test once and note what entries of the table it takes, and what code in a rule."""
    plain = dict(VJP)
    seen: set[Any] = set()
    depth = [0]
    for fn, vjp in plain.items():
        VJP[fn] = Observed.of(fn, vjp, seen, depth)

    def lines(frame: Any, event: str, arg: Any) -> Any:
        if event == "line":
            seen.add((number_of(frame.f_code), frame.f_lineno))
        return lines

    def calls(frame: Any, event: str, arg: Any) -> Any:
        return lines if depth[0] and frame.f_code.co_filename in files else None

    try:
        for check in checks:
            observe_one(check, seen, calls)
    finally:
        VJP.update(plain)


def observe_one(check: Check, seen: set[Any], trace: Any) -> None:
    """Run one test and note what it runs; one that fails by itself is left out."""
    seen.clear()
    forget()
    check.limit = LONGEST
    began = time.perf_counter()
    sys.settrace(trace)
    try:
        passed = check.passes()
    finally:
        sys.settrace(None)
    check.seconds = time.perf_counter() - began
    check.limit = check.seconds + SPARE
    check.touched = frozenset(seen) if passed else frozenset()
    if not passed:
        print(f"mutate: left out, it fails by itself: {check.name}", file=sys.stderr)


class Observed(Vjp):
    """An entry of the table that notes what it is asked for, and what its rules answer."""

    fn: Any
    seen: set[Any]
    depth: list[int]

    @classmethod
    def of(cls, fn: Any, vjp: Vjp, seen: set[Any], depth: list[int]) -> Observed:
        new = cls(vjp.rules, vjp.rest, vjp.live, vjp.sees, vjp.keywords)
        for name, value in (("fn", fn), ("seen", seen), ("depth", depth)):
            object.__setattr__(new, name, value)
        return new

    def rule(self, position: Any) -> Any:
        """Return the rule, and note it."""
        self.seen.add(self.fn)
        rule = Vjp.rule(self, position)
        return rule if rule is None or rule is zero else self.counted(rule)

    def counted(self, rule: Any) -> Any:
        """Return a rule that counts how deep in rules the program is."""

        @functools.wraps(rule)
        def pulled(*args: Any, **kwargs: Any) -> Any:
            self.depth[0] += 1
            try:
                dx = rule(*args, **kwargs)
            finally:
                self.depth[0] -= 1
            if has_complex(dx):
                self.seen.add((self.fn, "complex"))
            return dx

        if hasattr(rule, "inner"):
            pulled.inner = self.counted(rule.inner)
        return pulled


def has_complex(dx: Any) -> bool:
    """Tell whether an answer is complex, or one in a list of them."""
    if isinstance(dx, list | tuple):
        return any(map(has_complex, dx))
    return np.iscomplexobj(dx)
