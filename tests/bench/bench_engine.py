"""Time value and gradient, contender by contender in turn, and print a table of ratios.

    python tests/bench/bench_engine.py [MODEL ...] [--rounds N] [--seconds S]

HIPS autograd and JAX join in where they are installed.  Medians of CPU time per call; machines
differ, so read the ratios: how many times as long a contender takes as `grad`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# One thread, so that CPU time is a fair measure; set before NumPy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parent.parent.parent)  # tests/yota would hide the package

import numpy  # noqa: E402 - behind the settings that it reads

import yota  # noqa: E402
from tests.bench.models import MODELS  # noqa: E402
from yota.program import entry_of  # noqa: E402

# What JAX would compile for minutes, because it writes loops out.
_LOOPS = ("recurrent", "lstm", "ode")


def contenders(make: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each contender's name and call: of (value, gradient or gradients), or the value."""
    f, args = make(numpy)
    numbers = tuple(range(len(args)))
    traced = yota.value_and_grad(f, numbers)
    tape = yota.gradtape(f, *args)
    entry, exact, plain = entry_of(tape), entry_of(tape, exact=True), yota.simplegrad(f, *args)
    yield "grad", lambda: traced(*args)
    yield "plain f", lambda: f(*args)
    yield "entry", lambda: entry(*args)
    yield "exact", lambda: exact(*args)
    yield "simplegrad", lambda: plain(*args)
    yield "play", lambda: tape.play(*args)
    yield from peers(make, args, numbers)


def peers(make: Any, args: Any, numbers: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the other libraries that are installed."""
    try:
        import autograd
        import autograd.numpy as anp
    except ImportError:
        pass
    else:
        hips = autograd.value_and_grad(make(anp)[0], numbers if len(numbers) > 1 else 0)
        yield "autograd", lambda: hips(*args)
    if make.__name__ in _LOOPS:
        return
    try:
        import jax
    except ImportError:
        return
    jax.config.update("jax_enable_x64", True)
    jitted = jax.jit(jax.value_and_grad(make(jax.numpy)[0], numbers))
    yield "jax", lambda: jax.tree.map(numpy.asarray, jitted(*args))


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


def measure(make: Any, rounds: int, seconds: float) -> dict[str, float]:
    """Return each contender's median over rounds in turn."""
    calls = dict(contenders(make))
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(per_call(call, seconds))
    return {name: statistics.median(t) for name, t in times.items()}


def main() -> None:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help=", ".join(m.__name__ for m in MODELS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.05)
    options = parser.parse_args()
    for make in MODELS:
        if options.models and make.__name__ not in options.models:
            continue
        found = measure(make, options.rounds, options.seconds)
        base = found.pop("grad")
        shown = "  ".join(f"{n} {t / base:.2f}x" for n, t in found.items())
        print(f"{make.__name__:10s} grad {base * 1e6:9.2f} us   {shown}", flush=True)


if __name__ == "__main__":
    main()
