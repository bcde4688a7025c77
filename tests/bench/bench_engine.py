"""Time value and gradient, contender by contender in turn, and print a table of ratios.

    python tests/bench/bench_engine.py [MODEL ...] [--rounds N] [--seconds S]

HIPS autograd, JAX and PyTorch join in where they are installed.  Medians of CPU time per call in
one thread; machines differ, so read the ratios: how many times as long as `value_and_grad` each
contender takes.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# One thread, so that CPU time is a fair measure; set before NumPy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parent.parent.parent)  # tests/yota would hide the package

import numpy

import yota
from tests.bench.models import MODELS
from tests.bench.peers import PEERS, peers, versions
from yota.program import entry_of

COLUMNS = ("plain f", "entry", "exact", "simplegrad", "play", *PEERS)


def contenders(make: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each contender's name and call: of (value, gradient or gradients), or the value."""
    f, args = make(numpy)
    numbers = tuple(range(len(args)))
    cached = yota.value_and_grad(f, numbers)
    tape = yota.gradtape(f, *args)
    entry, exact, plain = entry_of(tape), entry_of(tape, exact=True), yota.simplegrad(f, *args)
    yield "yota", lambda: cached(*args)
    yield "plain f", lambda: f(*args)
    yield "entry", lambda: entry(*args)
    yield "exact", lambda: exact(*args)
    yield "simplegrad", lambda: plain(*args)
    yield "play", lambda: tape.play(*args)
    yield from peers(make, args, numbers)


def per_call(call: Callable[[], Any], seconds: float) -> float:
    """Return CPU seconds per call over about `seconds`."""
    count = 1
    while True:
        start = time.process_time()
        for _ in range(count):
            call()
        spent = time.process_time() - start
        if spent >= seconds:
            return spent / count
        count = max(2 * count, int(count * seconds / max(spent, 1e-6)))


def first_call(make: Any) -> float:
    """Return the CPU seconds of a call that has to be traced."""
    f, args = make(numpy)
    yota.reset()
    start = time.process_time()
    yota.value_and_grad(f, tuple(range(len(args))))(*args)
    return time.process_time() - start


def measure(make: Any, rounds: int, seconds: float) -> dict[str, float]:
    """Return each contender's median over rounds in turn."""
    first = statistics.median(first_call(make) for _ in range(rounds))
    calls = dict(contenders(make))
    for call in calls.values():
        # the second call is the first that the cache answers
        call()
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(per_call(call, seconds))
    return {"first": first, **{name: statistics.median(t) for name, t in times.items()}}


def machine() -> str:
    """Return what the figures were measured on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(x.partition(": ")[2] for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, one thread; Python {platform.python_version()}, {versions()}"


def row(name: str, found: dict[str, float], columns: list[str]) -> str:
    """Return one line of the table."""
    base = found["yota"]
    cells = [f"{found[c] / base:.2f}x" if c in found else "–" for c in columns]
    unit, scale = ("ms", 1e3) if base >= 1e-3 else ("µs", 1e6)
    cells = [f"{base * scale:.3g} {unit}", *cells, f"{found['first'] * 1e3:.1f} ms"]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help=", ".join(m.__name__ for m in MODELS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--columns", default=",".join(COLUMNS), help="default: %(default)s")
    options = parser.parse_args()
    columns = options.columns.split(",")
    print(machine(), end="\n\n")
    print(f"| model | yota | {' | '.join(columns)} | first call |")
    print("|---" * (len(columns) + 3) + "|")
    for make in MODELS:
        if not options.models or make.__name__ in options.models:
            print(row(make.__name__, measure(make, options.rounds, options.seconds), columns))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
