"""Write screenshots/: every view at 80x24 and 120x40, from the real program, the same each time.

Times are counted, not measured: a microsecond for each operand of an op.

Usage: python tests/make_screenshots.py [--check]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.yotaview.screen_text import captured, counted
from yotaview.app import screenshot
from yotaview.keys import VIEWS
from yotaview.model.session import Session
from yotaview.screens.picture import to_png

ROOT = Path(__file__).parents[1]
SIZES = ((80, 24), (120, 40))
KEYS = ("colon", "4", "1", "enter", "b", "colon", "4", "5", "enter")


def shots() -> list[tuple[str, Session, str, tuple[int, int], tuple[str, ...]]]:
    """Return name, session, view, size and keys of each picture."""
    found = []
    capture = captured()
    for view in VIEWS:
        for size in SIZES:
            found.append((f"{view}-{size[0]}x{size[1]}", Session(capture, 0), view, size, KEYS))
    found.append(("alert-120x40", Session(capture, 2), "step", (120, 40), ("exclamation_mark",)))
    return found


def make(folder: Path) -> list[Path]:
    """Write every picture as SVG and PNG; returns the files."""
    written = []
    for name, session, view, size, keys in shots():
        path = folder / f"{name}.svg"
        screenshot(counted(session), path, size, keys, view=view)
        picture = path.with_suffix(".png")
        picture.write_bytes(to_png(path.read_text(encoding="utf-8")))
        written += [path, picture]
    return written


def main() -> int:
    """Write the pictures, or tell whether those in the repository are current."""
    folder = ROOT / "screenshots"
    if "--check" not in sys.argv:
        folder.mkdir(exist_ok=True)
        print(f"{len(make(folder))} files in {folder.name}/")
        return 0
    with tempfile.TemporaryDirectory() as aside:
        stale = [p.name for p in make(Path(aside)) if not _same(p, folder / p.name)]
    print("screenshots are current" if not stale else f"not current: {' '.join(stale)}")
    return 1 if stale else 0


def _same(a: Path, b: Path) -> bool:
    return b.exists() and a.read_bytes() == b.read_bytes()


if __name__ == "__main__":
    sys.exit(main())
