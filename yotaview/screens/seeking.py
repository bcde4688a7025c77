"""Runs to the next stop, onward and back, which can be given up; and keys with a count."""

from __future__ import annotations

from collections.abc import Callable

from yotaview.keys import BY_ACTION
from yotaview.model.goto import GotoError
from yotaview.model.moves import MOVES
from yotaview.model.stops import Search, fenced
from yotaview.screens.checking import Checking
from yotaview.widgets.view import View

PATIENCE = 0.05
COUNTED = (
    *MOVES, "continue", "back_continue", "first", "last", "next_phase", "previous_phase",
    "next_call", "previous_call", "history_back", "history_on", "alert", "find_next",
    "find_previous", "next_access", "previous_access",
)  # fmt: skip


class Seeking(Checking):
    """Handles what may take long: the way to a breakpoint, and steps that are repeated."""

    seeking: Search | None = None

    def action_act(self, action: str) -> None:
        """Give up a search under way, then do what the key stands for."""
        if self.seeking is not None:
            asked, self.seeking = self.seeking.asked, None
            if action in ("leave", "stop"):
                self.tell(f"stopped looking after {asked:,} ops; the position is as it was")
                return
        super().action_act(action)

    def on_unmount(self) -> None:
        """Let no search outlive the screen."""
        self.seeking = None

    def do_stop(self) -> None:
        """Say how to leave: nothing is under way that could be stopped."""
        self.tell("nothing to stop; q quits")

    def do_continue(self) -> None:
        """Go to the next breakpoint, watch change or alert."""
        self.run_to(forward=True)

    def do_back_continue(self) -> None:
        """Go to the previous breakpoint, watch change or alert; the seed is a fence."""
        self.run_to(forward=False)

    def run_to(self, *, forward: bool, count: int = 1) -> None:
        """Go to the stop that is `count` stops away; what takes long goes on aside."""
        search = Search(self.session, forward=forward, count=count)
        if search.run(PATIENCE):
            self.arrive(search)
        else:
            self.look_on(search)

    def look_on(self, search: Search) -> None:
        """Go on with a search while the screen lives, until it is over or given up."""
        self.seeking = search
        self.tell("looking for the next stop; esc or ^c gives up")

        def look() -> None:
            while self.seeking is search:
                if search.run(PATIENCE):
                    self.app.call_from_thread(self.found, search)
                    return

        self.run_worker(look, thread=True)

    def found(self, search: Search) -> None:
        """Go where a search led, unless it was given up meanwhile."""
        if self.seeking is search:
            self.seeking = None
            self.arrive(search)

    def arrive(self, search: Search) -> None:
        """Go to the stop that was found, and say what stops there."""
        session, steps = self.session, self.session.stepper
        short = search.passed < search.count
        end = "end" if search.forward else "start"
        target, told = (search.stop.index, search.stop.text) if search.stop else (None, "")
        if target is None:
            target = len(steps) - 1 if search.forward else 0
            told = f"no further breakpoint, watch change or alert: the {end}"
        elif short:
            told = f"{search.passed} of {search.count} stops, then none to the {end}; {told}"
        fence = None if search.forward else fenced(session, target)
        if fence is not None:
            target, told = fence, "the seed: here the reverse pass began; C again goes on back"
        session.move(steps.to(target))
        self.redraw()
        self.tell(told)

    def act_times(self, action: str, count: int) -> None:
        """Do what a key stands for several times; `46G` goes to op 46."""
        if action not in COUNTED:
            raise GotoError(f"{BY_ACTION[action].show} takes no count; what does: {counted_keys()}")
        if action in ("first", "last"):
            self.session.jump(str(count))
            self.redraw()
        elif action in ("continue", "back_continue"):
            self.run_to(forward=action == "continue", count=count)
        else:
            self.repeat(action, count)

    def repeat(self, action: str, count: int) -> None:
        """Repeat a step until it changes nothing; the screen is drawn once."""
        own = getattr(self.view, f"do_{action}", None)
        if action in MOVES and getattr(own, "__func__", None) is getattr(View, f"do_{action}"):
            self.view.step_by(action, count)
            return
        handler = own or getattr(self, f"do_{action}")
        self.state.held = True
        try:
            self.rounds(handler, count - (action == "alert"))
        finally:
            self.state.held = False
        if action == "alert":  # only the last one is shown
            handler()
        self.redraw()

    def rounds(self, handler: Callable[[], None], count: int) -> None:
        """Do a thing so often; once round a circle, only what is left behind the last full one."""
        done, begin = 0, self.situation()
        before = begin
        while done < count:
            handler()
            done, here = done + 1, self.situation()
            if here == before:
                return
            if here == begin:
                count = done + (count - done) % done
            before = here


def counted_keys() -> str:
    """Return the keys that take a count."""
    return " ".join(BY_ACTION[a].show for a in COUNTED)
