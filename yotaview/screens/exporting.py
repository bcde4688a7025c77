"""Exports from the screen: what is laid out is made in the background, and stops by a key."""

from __future__ import annotations

from pathlib import Path

from textual.worker import get_current_worker

from yotaview.export import ExportError, Selection, export, suffix_of
from yotaview.model.standing import standing
from yotaview.render.svg import stop_layout
from yotaview.screens.moves import Moves

DRAWN = (".svg", ".png", ".pdf", ".html")


class Exporting(Moves):
    """Writes the open call to a file."""

    exporting = ""

    def write_export(self, path: Path, text: str) -> None:
        """Write a file; what Graphviz lays out in the background, one at a time."""
        name = "LR" if getattr(self.view, "form", "") == "across" else "TB"
        here = standing(self.session, self.view_name, self.app.theme).text()
        still = [self.session.still()]
        selection = Selection(self.session.capture, still, direction=name, standing=here)
        if suffix_of(str(path)) not in DRAWN:
            export(str(path), selection)
            self.tell(f"wrote {text}")
            return
        if self.exporting:
            raise ExportError(f"{self.exporting} is being laid out: esc stops it")
        self.exporting = text

        def make() -> None:
            told = f"wrote {text}"
            try:
                export(str(path), selection)
            except ExportError as error:
                told = str(error)
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self.exported, told)

        self.run_worker(make, thread=True, group="export")
        self.tell(f"laying out {text} … esc stops it, every key works meanwhile")

    def exported(self, told: str) -> None:
        """Say what became of an export."""
        self.exporting = ""
        self.tell(told)

    def stop_export(self) -> bool:
        """Stop the layout that runs; tell whether there was one."""
        if self.exporting:
            stop_layout()
        return bool(self.exporting)
