"""The keys that arrange the panes, open the user's editor, and run the script again."""

from __future__ import annotations

import os

from textual.app import SuspendNotSupported

from yota.tape import Frame
from yotaview.model.standing import standing
from yotaview.screens.commands import Commands
from yotaview.screens.editor import NoEditor, edit, editor_command
from yotaview.screens.jump import JumpScreen

STEP = 2


class Desk(Commands):
    """Handles the keys that leave the tape alone."""

    def do_jump(self) -> None:
        """Show a letter on each pane; the one that is pressed gets the focus."""
        view = self.view

        def go(name: str | None) -> None:
            if name:
                view.show_pane(name)

        self.app.push_screen(JumpScreen(view.panes), go)

    def do_grow(self) -> None:
        """Make the focused pane larger."""
        self.resize_pane(STEP)

    def do_shrink(self) -> None:
        """Make the focused pane smaller."""
        self.resize_pane(-STEP)

    def resize_pane(self, delta: int) -> None:
        """Move the edge between the focused pane and its neighbour."""
        if self.view.alone:
            self.tell("one pane is in sight: z shows all of them")
        elif not self.view.resize_pane(delta):
            self.tell("the pane has no more room to take" if delta > 0 else "the pane is smallest")

    def do_reset_panes(self) -> None:
        """Give every pane of the view its own size again."""
        self.view.reset_panes()

    @property
    def frame(self) -> Frame | None:
        """The user's line at the position, the raising one behind the last op."""
        failure = self.session.row.failure
        here = self.session.failed_here and failure is not None
        origin = failure.origin if here and failure is not None else self.session.op.origin
        return next(iter(origin.frames), None)

    def do_edit(self) -> None:
        """Open the user's editor at the line of the position."""
        frame = self.frame
        if frame is None:
            self.tell(f"{self.session.at} comes from no line of the script")
            return
        try:
            command = editor_command(frame.file, frame.line, os.environ)
            with self.app.suspend():
                edit(command)
        except NoEditor as error:
            self.tell(str(error))
        except SuspendNotSupported:
            self.tell(f"this terminal keeps the screen: open {frame.file}:{frame.line} beside it")
        else:
            self.tell("what is on the screen is the script as it ran; R runs it again")
        self.app.refresh()

    def do_rerun(self) -> None:
        """Leave the screen and run the script again in this terminal."""
        if not self.state.rerun:
            self.tell("nothing to run again: this is a saved session, or no script's screen")
            return
        self.state.again = standing(self.session, self.view_name, self.app.theme).text()
        self.app.exit(0)
