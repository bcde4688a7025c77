"""Write the README's generated parts: the table of keys and the command line's options."""

from __future__ import annotations

import re
import sys
from argparse import SUPPRESS
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def options_table() -> str:
    """Return the options of `yotaview` as a table: argparse's layout differs by Python."""
    from yotaview.options import EPILOG, make_parser, names_of

    rows = []
    for action in make_parser()._actions:
        if action.option_strings and action.help not in (None, SUPPRESS) and action.dest != "help":
            text = action.help.replace("%%", "%").replace("|", "\\|")
            shown = names_of(action).replace("|", "\\|")
            rows.append(f"| `{shown}` | {text} |")
    return (
        "\n".join(["| option | what it does |", "|---|---|", *rows, "", EPILOG.capitalize() + "."])
        + "\n"
    )


def updated(text: str) -> str:
    """Return the README with its generated parts made anew."""
    from yotaview.keys import readme_table

    parts = {"keys": readme_table(), "help": options_table()}
    for name, made in parts.items():
        pattern = rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- /{name} -->)"
        text = re.sub(
            pattern, lambda m, made=made: m[1] + "\n" + made + "\n" + m[2], text, flags=re.S
        )
    return text


if __name__ == "__main__":
    sys.path[0] = str(README.parent)  # tests/yota and tests/yotaview would hide the packages
    README.write_text(updated(README.read_text(encoding="utf-8")), encoding="utf-8")
