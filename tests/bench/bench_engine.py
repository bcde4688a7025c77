"""Time value and gradient, contender by contender in turn, and print ratios to the plain function.

    python tests/bench/bench_engine.py [--rounds N] [--seconds S]

HIPS autograd joins in where it is installed.  Medians of CPU time per call; machines differ, so
read the ratios.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parent.parent.parent)  # tests/yota would hide the package

import numpy

import yota


def scalar(np: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a chain on one Python float."""
    return lambda x: np.sin(np.exp(x)) * x + x**3, (0.7,)


def mlp(np: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a small network on a batch of 32."""
    rng = numpy.random.default_rng(1)
    data, target = rng.standard_normal((32, 64)), rng.standard_normal((32, 10))

    def loss(w1: Any, b1: Any, w2: Any) -> Any:
        return np.mean((np.tanh(data @ w1 + b1) @ w2 - target) ** 2)

    return loss, (
        0.1 * rng.standard_normal((64, 128)),
        numpy.zeros(128),
        rng.standard_normal((128, 10)),
    )


def recurrent(np: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a loop of 100 small steps."""
    rng = numpy.random.default_rng(2)
    inputs = rng.standard_normal((100, 8))

    def loss(w: Any, u: Any) -> Any:
        h = numpy.zeros(16)
        for x in inputs:
            h = np.tanh(np.dot(w, h) + np.dot(u, x))
        return np.mean(h**2)

    return loss, (0.2 * rng.standard_normal((16, 16)), 0.1 * rng.standard_normal((16, 8)))


WORKLOADS = (scalar, mlp, recurrent)


def contenders(make: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each contender's name and call."""
    f, args = make(numpy)
    numbers = tuple(range(len(args)))
    traced = yota.value_and_grad(f, numbers)
    tape = yota.gradtape(f, *args)
    compiled, plain = tape.compile(), yota.simplegrad(f, *args)
    yield "plain f", lambda: f(*args)
    yield "grad", lambda: traced(*args)
    yield "play", lambda: tape.play(*args)
    yield "compile", lambda: compiled(*args)
    yield "simplegrad", lambda: plain(*args)
    try:
        import autograd
        import autograd.numpy as anp
    except ImportError:
        return
    g, _ = make(anp)
    peer = autograd.value_and_grad(g, numbers if len(numbers) > 1 else 0)
    yield "autograd", lambda: peer(*args)


def per_call(call: Callable[[], Any], seconds: float) -> float:
    """Return CPU seconds per call over about `seconds`."""
    count, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        call()
        count += 1
    return (time.process_time() - start) / count


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
    """Print a line for each workload."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.05)
    options = parser.parse_args()
    for make in WORKLOADS:
        found = measure(make, options.rounds, options.seconds)
        base = found["plain f"]
        shown = "  ".join(f"{n} {t / base:.2f}x" for n, t in found.items() if n != "plain f")
        print(f"{make.__name__:10s} plain f {base * 1e6:9.2f} us   {shown}")


if __name__ == "__main__":
    main()
