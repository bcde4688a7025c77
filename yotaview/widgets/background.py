"""Work that a view does in the background: shown while it runs, stopped by a key."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from textual.worker import get_current_worker

T = TypeVar("T")

if TYPE_CHECKING:
    from yotaview.widgets.view import View as Base
else:
    Base = object


class Stopped(Exception):  # noqa: N818 - what it says
    """The user stopped the work."""


class Background(Base):
    """One piece of work at a time, about the open call; what comes too late is dropped."""

    busy = ""
    _said = ""
    _about: object = None
    _stop: Event | None = None

    @property
    def checked(self) -> str:
        """What the last check said, as long as the call is open that it was about."""
        return self._said if self._about is self.session.opened else ""

    @checked.setter
    def checked(self, text: str) -> None:
        self._said, self._about = text, self.session.opened

    def work(self, what: str, make: Callable[[], T], done: Callable[[T], None]) -> None:
        """Make something in the background and hand it to `done`, unless it is stopped before."""
        if self.busy:
            self.tell(f"{self.busy}: esc stops it")
            return
        stop, opened = Event(), self.session.opened
        self.busy, self._stop = what, stop
        self.tell(f"{what} … esc stops it")

        def run() -> None:
            try:
                result: Any = make()
            except Exception as error:  # said where the result would stand
                result = error
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(finish, result)

        def finish(result: Any) -> None:
            if self._stop is not stop:
                return
            self.busy, self._stop = "", None
            if stop.is_set():
                return
            if self.session.opened is not opened:
                self.redraw()
                return
            if isinstance(result, Exception):
                self.tell(f"{what} failed: {type(result).__name__}: {result}")
            else:
                done(result)

        self.run_worker(run, thread=True, group=f"work-{self.name}")

    @property
    def stopping(self) -> bool:
        """Tell whether the work is to end."""
        return self._stop is not None and self._stop.is_set()

    def stop(self) -> bool:
        """Stop the work; tell whether there was any."""
        if not self.busy or self._stop is None:
            return False
        self._stop.set()
        what, self.busy, self._stop = self.busy, "", None
        self.tell(f"stopped {what}")
        return True
