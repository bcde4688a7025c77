"""What a script can change in its process: read before the run and put back after it."""

from __future__ import annotations

import builtins
import contextlib
import decimal
import faulthandler
import gc
import importlib.machinery
import io
import locale
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Container, Mapping, MutableMapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

# what the handlers that a script leaves for its exit rely on
SURROUNDINGS = ("environment", "folder", "umask")


class Setting(NamedTuple):
    """One thing that is global to the process: how to read it, how to put it back."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object]


def read(names: Container[str] | None = None) -> dict[str, Any]:
    """Return every setting as it is, or only those named."""
    found = {}
    for name, get, _ in SETTINGS:
        if names is not None and name not in names:
            continue
        with contextlib.suppress(Exception):  # this system has no such thing
            found[name] = get()
    return found


def put_back(kept: Mapping[str, Any]) -> None:
    """Set everything as it was, as far as the script left that possible."""
    for name, _, put in SETTINGS:
        if name in kept:
            # one that cannot be put back must not keep the next from it
            with contextlib.suppress(Exception):
                put(kept[name])


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _names(module: ModuleType) -> Setting:
    """Return the setting of what a module's names mean; further names may stay."""
    return Setting(
        f"names of {module.__name__}",
        lambda: dict(vars(module)),
        lambda kept: _update(vars(module), kept),
    )


def _attributes(thing: Any, *names: str) -> Setting:
    def put(kept: tuple[Any, ...]) -> None:
        for name, value in zip(names, kept, strict=True):
            setattr(thing, name, value)

    return Setting(
        f"{thing.__name__}: {', '.join(names)}",
        lambda: tuple(getattr(thing, n) for n in names),
        put,
    )


def _list(thing: Any, name: str) -> Setting:
    """Return the setting of a list, which stays the same object."""

    def put(kept: tuple[list[Any], list[Any]]) -> None:
        found, content = kept
        found[:] = content
        setattr(thing, name, found)

    def get() -> tuple[list[Any], list[Any]]:
        found = getattr(thing, name)
        return found, list(found)

    return Setting(f"{thing.__name__}.{name}", get, put)


def _update(found: MutableMapping[Any, Any], kept: Mapping[Any, Any]) -> None:
    for key, value in kept.items():
        if key not in found or found[key] is not value:
            found[key] = value


def _put_environment(kept: Mapping[str, str]) -> None:
    for name in [n for n in os.environ if n not in kept]:
        del os.environ[name]
    for name, value in kept.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _put_modules(kept: Mapping[str, ModuleType]) -> None:
    """Put modules back, and let go files of the script that hide what the viewer imports later."""
    _update(sys.modules, kept)
    for name in [n for n in sys.modules if n not in kept and _hides(n, sys.modules[n])]:
        del sys.modules[name]


def _hides(name: str, module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or "." in name or hasattr(module, "__path__"):
        return False
    found = importlib.machinery.PathFinder.find_spec(name)
    origin = found.origin if found is not None else None
    return origin is not None and os.path.realpath(origin) != os.path.realpath(file)


def _enter_warnings() -> warnings.catch_warnings[None]:
    context = warnings.catch_warnings()
    context.__enter__()
    return context


def _handlers() -> dict[int, Any]:
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def _put_handlers(kept: Mapping[int, Any]) -> None:
    for number, handler in kept.items():
        if handler is not None and signal.getsignal(number) is not handler:
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, handler)


def _timers() -> dict[int, tuple[float, float]]:
    return {t: signal.getitimer(t) for t in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL)}


def _put_timers(kept: Mapping[int, tuple[float, float]]) -> None:
    for timer, (delay, interval) in kept.items():
        signal.setitimer(timer, delay, interval)


def _collector() -> tuple[bool, tuple[int, int, int], int]:
    return gc.isenabled(), gc.get_threshold(), gc.get_debug()


def _put_collector(kept: tuple[bool, tuple[int, int, int], int]) -> None:
    enabled, threshold, debug = kept
    (gc.enable if enabled else gc.disable)()
    gc.set_threshold(*threshold)
    gc.set_debug(debug)


def _limits() -> dict[int, tuple[int, int]]:
    import resource

    names = [n for n in dir(resource) if n.startswith("RLIMIT_")]
    return {(k := getattr(resource, n)): resource.getrlimit(k) for n in names}


def _put_limits(kept: Mapping[int, tuple[int, int]]) -> None:
    import resource

    for number, (soft, _) in kept.items():
        now, most = resource.getrlimit(number)
        if now != soft:  # a hard limit once lowered cannot be raised again
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(number, (soft, most))


def _terminal() -> Any:
    import termios

    return termios.tcgetattr(0)


def _put_terminal(kept: Any) -> None:
    import termios

    if termios.tcgetattr(0) != kept:  # in the background, setting it would stop the process
        termios.tcsetattr(0, termios.TCSADRAIN, kept)


def _put_faults(enabled: bool) -> None:
    faulthandler.cancel_dump_traceback_later()


SETTINGS = (
    Setting("timers", _timers, _put_timers),
    Setting("faults", faulthandler.is_enabled, _put_faults),
    Setting("recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    Setting("trace", sys.gettrace, sys.settrace),
    Setting("profile", sys.getprofile, sys.setprofile),
    Setting("trace of threads", threading.gettrace, threading.settrace),
    Setting("profile of threads", threading.getprofile, threading.setprofile),
    *map(_names, (builtins, os, io, time, np)),
    _attributes(sys, "excepthook", "displayhook", "unraisablehook", "breakpointhook", "exit"),
    _attributes(threading, "excepthook"),
    _list(sys, "argv"),
    _list(sys, "path"),
    _list(sys, "meta_path"),
    _list(sys, "path_hooks"),
    Setting("modules", sys.modules.copy, _put_modules),
    Setting("signal handlers", _handlers, _put_handlers),
    Setting(
        "signal mask",
        lambda: signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        lambda kept: signal.pthread_sigmask(signal.SIG_SETMASK, kept),
    ),
    Setting("environment", lambda: dict(os.environ), _put_environment),
    Setting("folder", os.getcwd, os.chdir),
    Setting("umask", _umask, os.umask),
    Setting("limits", _limits, _put_limits),
    Setting(
        "locale",
        lambda: locale.setlocale(locale.LC_ALL),
        lambda kept: locale.setlocale(locale.LC_ALL, kept),
    ),
    Setting("terminal", _terminal, _put_terminal),
    Setting("warnings", _enter_warnings, lambda kept: kept.__exit__(None, None, None)),
    Setting("decimals", lambda: decimal.getcontext().copy(), decimal.setcontext),
    Setting("floating-point errors", np.geterr, lambda kept: np.seterr(**kept)),
    Setting("floating-point callback", np.geterrcall, np.seterrcall),
    Setting("print options", np.get_printoptions, lambda kept: np.set_printoptions(**kept)),
    Setting("switch interval", sys.getswitchinterval, sys.setswitchinterval),
    Setting("digits", sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    Setting("collector", _collector, _put_collector),
)
