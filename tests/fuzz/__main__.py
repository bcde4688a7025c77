"""Compare random programs with NumPy, differences and other engines: `python -m tests.fuzz`."""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.peers import PEERS
from tests.fuzz.session import Session


def main(argv: list[str] | None = None) -> int:
    """Run and return the exit code: 1 where a program failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="the first program's (default 0)")
    parser.add_argument("--seconds", type=float, default=600.0, help="stop then (default 600)")
    parser.add_argument(
        "--peer", action="append", default=[], choices=PEERS, help="compare with this engine too"
    )
    parser.add_argument("--failures", type=int, default=10, help="stop at so many (default 10)")
    options = parser.parse_args(argv)
    peers = [PEERS[name]() for name in options.peer]
    session = Session(options.seed, options.programs, options.seconds, options.failures, peers)
    session.run()
    print(session.summary())
    return 1 if session.failures else 0


if __name__ == "__main__":
    sys.exit(main())
