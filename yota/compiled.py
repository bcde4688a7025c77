"""Functions that their user declares pure: what they read outside is not looked at again."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any


class Compiled:
    """A function equal to the one it was made of, whose programs are found without a look outside.

    Its programs live as long as it does.
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f)
        self.__wrapped__ = f
        self.slots: dict[Any, Any] = {}
        ALL.add(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns."""
        return self.__wrapped__(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<yota.compile of {self.__wrapped__!r}>"


ALL: weakref.WeakSet[Compiled] = weakref.WeakSet()


def compile(f: Callable[..., Any]) -> Compiled:
    """Return a function equal to `f` that grad and its siblings take as pure.

    Its programs are found by the arguments and by the values that Python branched on; globals,
    closures, attributes and captured arrays are taken as they were when it was first traced.
    """
    if not callable(f):
        raise TypeError(f"yota.compile(f) takes a function, not {f!r}")
    return f if isinstance(f, Compiled) else Compiled(f)
