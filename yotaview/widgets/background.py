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

    def work(
        self,
        what: str,
        make: Callable[[], T],
        done: Callable[[T], None],
        *,
        told: bool = True,
    ) -> None:
        """Make something in the background and hand it to `done`, unless it is stopped before."""
        if self.busy:
            self.tell(f"{self.busy}: esc stops it")
            return
        stop, opened = Event(), self.session.opened
        self.busy, self._stop = what, stop
        if told:
            self.tell(f"{what} … esc stops it")

        def run() -> None:
            worker = get_current_worker()
            try:
                result: Any = make()
            except Exception as error:  # said where the result would stand
                result = error
            if not worker.is_cancelled:
                self.app.call_from_thread(self._finish, stop, opened, result, done)

        self.run_worker(run, thread=True, group=f"work-{self.name}")

    def _finish(
        self, stop: Event, opened: object, result: Any, done: Callable[[Any], None]
    ) -> None:
        """Hand over what was made, unless it was stopped or another call is open by now."""
        if self._stop is not stop:
            return
        what, self.busy, self._stop = self.busy, "", None
        if stop.is_set() or self.session.opened is not opened:
            return
        if isinstance(result, Exception):
            self.tell(f"{what} failed: {type(result).__name__}: {result}")
        else:
            done(result)

    def stopper(self) -> Callable[[], bool]:
        """Return what tells the work under way whether it is to end."""
        stop = self._stop
        return lambda: stop is None or stop.is_set()

    def on_unmount(self) -> None:
        """Let no work outlive the screen."""
        self.stop_quietly()

    def stop_quietly(self) -> None:
        """Stop the work, if there is any."""
        if self._stop is not None:
            self._stop.set()
        self.busy, self._stop = "", None

    def stop(self) -> bool:
        """Stop the work; tell whether there was any."""
        if not self.busy or self._stop is None:
            return False
        what = self.busy
        self.stop_quietly()
        self.moved()
        self.tell(f"stopped {what}; = begins anew")
        return True
