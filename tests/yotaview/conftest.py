"""A script to open, for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.yotaview.scripts import EXP


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(EXP + "import sys\nprint('hello', sys.argv[1:])\n")
    return path
