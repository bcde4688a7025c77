"""The other libraries, where they are installed, each as a call of value and gradients."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy

Timed = Callable[[], Any]
PEERS = ("autograd", "jax", "torch")
# what JAX would compile for minutes, because it writes loops out
_LOOPS = ("recurrent", "lstm", "ode", "kalman")
_FUNCTIONS = (
    "sin", "exp", "tanh", "log", "sqrt", "sum", "mean", "amax", "swapaxes", "stack", "einsum",
    "outer",
)  # fmt: skip


def installed() -> dict[str, ModuleType]:
    """Return the peers that can be imported."""
    found = {}
    for name in PEERS:
        try:
            found[name] = importlib.import_module(name)
        except ImportError:
            continue
    return found


def versions() -> str:
    """Return the versions of NumPy and of the peers that are installed."""
    names = ["numpy", *installed()]
    return ", ".join(f"{n} {importlib.metadata.version(n)}" for n in names)


def peers(make: Any, args: Any, numbers: Any) -> Iterator[tuple[str, Timed]]:
    """Yield each peer's name and call, with plain arrays and numbers in and out."""
    known = installed()
    if "autograd" in known:
        yield "autograd", with_autograd(make, args, numbers)
    if "jax" in known and make.__name__ not in _LOOPS:
        yield "jax", with_jax(make, args, numbers)
    if "torch" in known:
        yield "torch", with_torch(make, args)


def with_autograd(make: Any, args: Any, numbers: Any) -> Timed:
    """Return a call of HIPS autograd."""
    import autograd

    anp = importlib.import_module("autograd.numpy")
    hips = autograd.value_and_grad(make(anp)[0], numbers if len(numbers) > 1 else 0)
    return lambda: hips(*args)


def with_jax(make: Any, args: Any, numbers: Any) -> Timed:
    """Return a call of a function compiled by JAX."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jitted = jax.jit(jax.value_and_grad(make(jax.numpy)[0], numbers))
    return lambda: jax.tree.map(numpy.asarray, jitted(*args))


def with_torch(make: Any, args: Any) -> Timed:
    """Return a call of PyTorch, in one thread."""
    import torch

    torch.set_num_threads(1)
    space = SimpleNamespace(**{n: getattr(torch, n) for n in _FUNCTIONS})
    space.asarray, space.dot = torch.from_numpy, torch.matmul
    f = make(space)[0]
    tensors = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in args]

    def call() -> Any:
        value = f(*tensors)
        return value.item(), [g.numpy() for g in torch.autograd.grad(value, tensors)]

    return call
