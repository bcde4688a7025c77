"""Measure the screen in a real pseudo-terminal: how soon it is up, how long a step takes, memory.

    python tests/bench/bench_screen.py [--runs N] [--ops N]

Prints medians of the runs: seconds from the script's last line to a whole screen for a tape of
1,000 ops; milliseconds from a key to the last byte that it draws, on a tape of `--ops` ops at
200x60, median, 95th percentile and worst; the largest resident memory of that process.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pexpect
import pyte

ROOT = Path(__file__).parents[2]
CHAIN = """\
import time
import numpy as np
import yota


def chain(x):
    for _ in range({count}):
        x = np.sin(x)
    return np.sum(x)


yota.grad(chain, np.ones(3))
print(f"ENDED {{time.time()}}", flush=True)
"""
QUIET = 0.03


class Screen:
    """The program in a pseudo-terminal."""

    def __init__(self, script: Path, rows: int, columns: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        env["PYTHONPATH"] = str(ROOT)
        self.child = pexpect.spawn(
            sys.executable, ["-m", "yotaview", str(script)], dimensions=(rows, columns), env=env
        )
        self.child.delaybeforesend = None  # or its 50 ms would count as ours
        self.start, self.ended = b"", 0.0

    def feed(self, seconds: float) -> bool:
        """Take what comes within some seconds; tell whether anything came."""
        try:
            data = self.child.read_nonblocking(1 << 16, timeout=seconds)
        except pexpect.TIMEOUT:
            return False
        if not self.ended:
            self.start += data
            if found := re.search(rb"ENDED ([\d.]+)\s", self.start):
                self.ended = float(found[1])
        self.stream.feed(data)
        return True

    def until(self, text: str) -> float:
        """Wait for a text; return when it was there."""
        while not any(text in row for row in self.screen.display):
            self.feed(60)
        return time.time()

    def rest(self, seconds: float) -> None:
        """Wait until nothing was drawn for a while."""
        while self.feed(seconds):
            pass

    def key(self, text: str) -> float:
        """Press a key; return the seconds until the last byte that it drew."""
        began = last = time.perf_counter()
        self.child.send(text)
        while True:
            try:
                data = self.child.read_nonblocking(1 << 16, timeout=QUIET if last > began else 2)
            except pexpect.TIMEOUT:
                return last - began
            last = time.perf_counter()
            self.stream.feed(data)

    @property
    def memory(self) -> int:
        """The largest resident memory so far, in bytes."""
        status = Path(f"/proc/{self.child.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) << 10

    def quit(self) -> None:
        """Leave."""
        self.child.send("q")
        self.child.expect(pexpect.EOF, timeout=60)
        self.child.close()


def script_of(folder: str, ops: int) -> Path:
    """Write a script whose tape has about so many ops."""
    path = Path(folder, f"chain{ops}.py")
    path.write_text(CHAIN.format(count=ops // 3), encoding="utf-8")
    return path


def up(script: Path) -> float:
    """Return the seconds from the script's end to a whole screen."""
    screen = Screen(script, 40, 120)
    there = screen.until("quit")
    screen.quit()
    return there - screen.ended


def steps(script: Path, keys: int) -> tuple[list[float], int]:
    """Return the seconds of each step, here and there on the tape, and the memory."""
    screen = Screen(script, 60, 200)
    screen.until("quit")
    screen.rest(8)
    for _ in range(3):
        screen.key("n")
    found: list[float] = []
    for place in ("50%", "seed", "90%"):
        screen.child.send(f":{place}\r")
        screen.rest(0.5)
        found += [screen.key(k) for k in ("n", "N", "s", "S") for _ in range(keys // 12)]
    memory = screen.memory
    screen.quit()
    return found, memory


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--ops", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = [up(script_of(folder, 1_000)) for _ in range(options.runs)]
        print(f"screen up, 1,000 ops          {statistics.median(found):6.2f} s", flush=True)
        times, memory = steps(script_of(folder, options.ops), 120)
    times.sort()
    print(f"step, {options.ops:,} ops, median     {1e3 * statistics.median(times):6.1f} ms")
    print(f"step, 95th percentile         {1e3 * times[int(0.95 * len(times))]:6.1f} ms")
    print(f"step, worst                   {1e3 * times[-1]:6.1f} ms")
    print(f"largest resident memory       {memory / 2**20:6.0f} MB")


if __name__ == "__main__":
    main()
