"""A debugger for gradients: step through a tape, forward and back, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yota.tape import Tape
    from yotaview.render.svg import Drawing

__all__ = ["graph", "show"]


def show(tape: Tape, *args: Any, seed: Any = None, **kwargs: Any) -> None:
    """Open the debugger on a tape; one without values is replayed with `args` first.

    Where there is no terminal, print the tape with its values.  Raises YotaError for a tape without
    values and arguments.
    """
    from yotaview.invocation import on_terminal
    from yotaview.model.single import session_of
    from yotaview.render.line import plain
    from yotaview.render.text import tape_lines

    session = session_of(tape, *args, seed=seed, **kwargs)
    if not on_terminal():
        print(plain(tape_lines(session)), end="")
        return
    from yotaview.app import run

    run(session)


def graph(tape: Tape, *, direction: str = "TB") -> Drawing:
    """Return a drawing of a tape, which notebooks show and `.save()` writes as DOT."""
    from yotaview.render.svg import draw

    return draw(tape, direction=direction)
