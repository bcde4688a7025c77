"""A file that keeps what became of each fault, so that a long run may be broken off."""

from __future__ import annotations

from pathlib import Path

from tests.mutation.suite import Outcome


class Journal:
    """Outcomes by name, in a file of lines if there is one."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.known: dict[str, str] = {}
        if path is not None and path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            self.known = {name: fate for fate, _, name in (line.partition("\t") for line in lines)}

    def fate_of(self, name: str) -> str | None:
        """Return what became of a fault in an earlier run, None if that is not known."""
        return self.known.get(name)

    def note(self, outcome: Outcome) -> None:
        """Write an outcome down; several processes may write to one file."""
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{outcome.fate}\t{outcome.name}\n")
