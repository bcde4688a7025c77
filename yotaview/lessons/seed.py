"""One exp, seen twice on the tape and once in the code.

We ask for the derivative of foo(x) = exp(x) at x = 0.5. Before you step on, write down what you
expect: the value, and the slope.

yota runs foo once and writes every operation down on a *tape*, one numbered line each:

    inp %1                     the argument x
    %2 = exp(%1)               what foo computed: the forward pass ends here
    const %3 = 1.0             the seed: how much does the result change with itself? By one
    %4 = exp(%1)               the reverse pass: the slope of exp at x is exp(x) ...
    %5 = multiply(%4, %3)      ... times what arrives from above. This is the gradient

Step through it with n, and back with N. Nothing is computed twice while you walk; every value was
recorded, so going back costs as little as going on. What lies ahead says "not computed yet". It
does not say 0, for a zero would be an answer.

Look again at %2 and %4. They are the same call on the same operand. View 2, Passes, shows what
becomes of that: the pass `cse` (common subexpressions) finds that %4 repeats %2 and lets every
reader of %4 read %2 instead. The number %4 is never given to another op, so that you can still
ask what became of it.

View 3, Code, shows the function that is left, in three parts:

    prologue    check and unpack the arguments, prepare the memory
    body        what has to be computed: one exp
    epilogue    hand out value and gradient

Questions to take along:
1. Why is the seed 1.0? What would a seed of 2.0 give?
2. The value and the gradient agree here. For which functions is that so?
3. Change np.exp to np.sin. Which ops does the reverse pass hold now, and does cse find anything?
"""

import numpy as np

import yota


def foo(x):
    """Return e to the power x."""
    return np.exp(x)


value, g = yota.grad(foo, 0.5)
print("value   ", value)
print("gradient", g[0])
