"""The forms: quicker ways to compute the same values, each with what it may cost in accuracy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from yota.passes.forms import (
    batches,
    blocks,
    columns,
    exact,
    factors,
    gather,
    numbers,
    parts,
    stacks,
    sums,
)
from yota.passes.work import Work


@dataclass(frozen=True, slots=True)
class Form:
    """A way to compute the same values: what it replaces, how far results may differ, and why.

    `bound` is in units in the last place of the result, or of the sum of the terms' magnitudes; an
    exact form keeps every bit.  One that `moves` ops does nothing else, and comes last.
    """

    name: str
    replaces: str
    bound: str
    why: str
    run: Callable[[Work], None]
    exact: bool = False
    moves: bool = False


FORMS = (
    Form("means", "mean(x)", "0", "NumPy's mean is this sum and division, behind more Python",
         exact.expand_means, exact=True),
    Form("numbers", "an elementwise operand that repeats one number", "0",
         "reading an array costs memory traffic", exact.number_repeated, exact=True),
    Form("broadcasts", "an elementwise operand that was broadcast", "0",
         "elementwise functions broadcast by themselves", exact.read_through, exact=True),
    Form("ones", "a product with one", "0", "it changes no bit", exact.drop_ones, exact=True),
    Form("vectors", "a product with a matrix of one column", "n: terms may be added in any order",
         "a product with a vector needs no reshaping", sums.multiply_with_vector),
    Form("cotangents", "f(d1) + f(d2) for a linear f", "n of the terms' magnitudes",
         "f runs once, as it would had the user's expressions been written once",
         gather.gather_cotangents),
    Form("parts", "sums of arrays that are zero but for a part",
         "n of the terms' magnitudes: added in another order",
         "no array of zeros is made, and only parts are added", parts.put_parts_together),
    Form("stacks", "sums of outer products, or of products of at most 64 rows",
         "n of the terms' magnitudes", "one call of BLAS for many", stacks.stack_products),
    Form("signs", "a negation that the next sum can take up", "0, but for the sign of nan and 0",
         "one pass over the data less", factors.absorb_signs),
    Form("scales", "several constant factors in turn", "3",
         "one pass over the data less for each", factors.join_scales),
    Form("powers", "x ** n for whole n from -8 to 8", "n, for negative n twice as many",
         "the power function is 5 to 100 times as slow as a product", factors.expand_powers),
    Form("products", "sum(a * b)", "n of the terms' magnitudes, n <= 65,536 terms a chunk",
         "the product is not stored", sums.sum_products),
    Form("sums", "sum(x)", "n of the terms' magnitudes, n <= 65,536 terms a chunk",
         "a product with ones is 3 to 8 times as quick", sums.sum_with_ones),
    Form("columns", "max or min along a last axis of at most 16", "0, but for the sign of 0",
         "NumPy starts anew for each row", columns.reduce_by_columns),
    Form("dots", "matmul(a, b)", "n of the terms' magnitudes: added in any order",
         "less to do before the first product", sums.multiply_with_dot),
    Form("batches", "small arrays that a loop computes round by round without need",
         "0, of products n of the terms' magnitudes", "one call for all rounds",
         batches.compute_in_batches),
    Form("floats", "a ufunc on float64 numbers",
         "4 an operation: exp differs in 5 % of inputs by 1, tanh in 29 % by up to 3",
         "Python's arithmetic takes 12 to 40 ns, a ufunc 100 to 500", numbers.compute_with_floats),
    Form("blocks", "the order of elementwise calls on arrays of 512 kB or more", "0",
         "some rows at a time, values stay in the processor's cache", blocks.compute_in_blocks,
         exact=True, moves=True),
)  # fmt: skip
