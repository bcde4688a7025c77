"""Pictures of the screen that need nothing from the network and do not change from run to run."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from textual.app import App

FONTS = "'DejaVu Sans Mono', Menlo, Consolas, monospace"


def picture(app: App[int]) -> str:
    """Return the screen as SVG, without references to anything outside of it."""
    svg = app.export_screenshot(title="yotaview", simplify=True)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", FONTS).replace("Fira Code", "DejaVu Sans Mono")
    return re.sub(r"terminal-\d+", "yotaview", svg)


def to_png(svg: str) -> bytes:
    """Return a picture as PNG, drawn with the font that comes with the program."""
    import resvg_py

    assets = Path(str(files("yotaview") / "assets"))
    family = "DejaVu Sans Mono"
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            skip_system_fonts=True,
            font_files=[
                str(assets / "DejaVuSansMono.ttf"),
                str(assets / "DejaVuSansMono-Bold.ttf"),
            ],
            monospace_family=family,
            font_family=family,
            sans_serif_family=family,
        )
    )
