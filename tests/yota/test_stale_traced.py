"""What Python reads of a traced value without a guard: texts of it."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

import yota

TEXTS = {
    "str": lambda x: x * len(str(x)),
    "repr": lambda x: x * len(repr(x)),
    "f-string": lambda x: x * float(f"{x:.1f}"),
    "format": lambda x: x * float("{:.1f}".format(x)),  # noqa: UP032 - on purpose
    "join": lambda x: x * len(",".join(map(str, [x]))),
    "array_str": lambda x: x * len(np.array_str(x * np.ones(1))),
}


@pytest.mark.parametrize("f", TEXTS.values(), ids=TEXTS)
def test_a_text_of_a_traced_value_is_made_anew(f):
    for x in (1.0, 12.5, 1.0, 200.25):
        value, g = yota.grad(f, x)
        assert value == f(x)
        assert g[0] == f(x) / x
        assert "text of a traced value" in g.program.why_retraced


def test_a_text_of_an_error_costs_nothing():
    def f(x):
        if x > 1e6:
            raise ValueError(f"{x} is too large")
        return x * x

    assert yota.grad(f, 2.0)[1].program.why_retraced == ""


def test_a_task_that_begins_inside_a_function_has_no_trace():
    found = []

    async def later():
        found.append(yota.grad(lambda y: y * 3.0, 2.0)[0])

    async def main():
        def f(x):
            tasks.append(asyncio.ensure_future(later()))
            return x * 2.0

        tasks = []
        yota.grad(f, 1.0)
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert [type(v) for v in found] == [float]
