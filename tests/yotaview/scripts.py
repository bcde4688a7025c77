"""Small scripts for the viewer's tests, and ways to run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from yotaview import cli
from yotaview.capture import Capture, Limits, run_script
from yotaview.model.session import Session

ROOT = Path(__file__).resolve().parents[2]

EXP = """\
import numpy as np
import yota


def foo(x):
    return np.exp(x)


val, g = yota.grad(foo, 0.5)
"""

LOOP = """\
import numpy as np
import yota


def loss(w, x):
    return np.sum((w * x) ** 2)


x = np.arange(3.0)
w = np.ones(3)
for step in range({count}):
    value, g = yota.grad(loss, w, x)
    w = w - 0.01 * g[0]
"""

FAILS = """\
import numpy as np
import yota


def loss(x):
    h = np.tanh(x)
    return np.sum(h @ np.ones(3))


for n in (3, 3, 4):
    yota.grad(loss, np.zeros(n))
"""

FAILS_IN_REVERSE = """\
import numpy as np
import yota


@yota.primitive
def cube(x):
    return x**3


yota.defvjp(cube, lambda dy, y, x: dy @ np.ones((7, 7)))


def loss(x):
    return np.sum(cube(np.sin(x)) * x)


yota.grad(loss, np.ones(4))
"""

NAN = """\
import numpy as np
import yota


def bad(x):
    return np.sum(np.log(x))


with np.errstate(all="ignore"):
    yota.grad(bad, np.array([1.0, -1.0]))
"""

MASKED = """\
import numpy as np
import yota


def trap(x):
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0))


with np.errstate(all="ignore"):
    yota.grad(trap, np.array([1.0, -1.0]))
"""


def captured(folder: Path, text: str, limits: Limits | None = None) -> Capture:
    """Run a script in this process and return its capture."""
    path = folder / "script.py"
    path.write_text(text)
    return run_script(str(path), limits=limits)


def opened(folder: Path, text: str) -> Session:
    """Run a script in this process and open its most urgent row."""
    return Session(captured(folder, text))


def yotaview(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "yotaview", *args],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def run(*args: object, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Run the command line in this process."""
    code = cli.main([str(a) for a in args])
    out, err = capfd.readouterr()
    return code, out, err


COMPLEX = """\
import numpy as np
import yota

yota.trace(lambda z: np.sum(z * z), np.array([1 + 2j, 0.5j]))
"""
