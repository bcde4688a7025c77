"""python -m tests.monkey [--keys N] [--seed S] [--view NAME]: press random keys in each view."""

from __future__ import annotations

import argparse
import sys
import time

from tests.monkey import play_all
from yotaview.keys import VIEWS


def main() -> int:
    """Print a line a view and tape and what broke; return 1 if anything did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=10_000, help="in each view (10000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--view", choices=VIEWS, action="append")
    options = parser.parse_args()
    began, pressed, broken = time.monotonic(), 0, 0
    for report in play_all(options.keys, options.seed, options.view or VIEWS):
        pressed += len(report.pressed)
        broken += len(report.broken)
        print(f"{report.view:<8} {report.tape:<18} {len(report.pressed):>6} keys", flush=True)
        for text in report.broken:
            print(f"    {text}", flush=True)
    print(f"{pressed:,} keys, {broken} broken, {time.monotonic() - began:.0f} s")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
