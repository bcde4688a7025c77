"""What NumPy repeats, the reverse pass sums.

A table of temperatures has a row for each day and a column for each station. We subtract an offset
from every column, scale by one number, and ask how far the result is from what was expected:

    error(offset, scale) = mean((scale * (table - offset) - expected)**2)

`table` is of shape (5, 3) and `offset` of shape (3,). NumPy *broadcasts*: it behaves as if the
offset were written five times, once for each row. `scale` is a single number, and behaves as if it
were written fifteen times.

Now the reverse pass. Change offset[1] a little, and all five elements of column 1 change. Its
cotangent is therefore the sum of five contributions. This is a rule without exception:

    an axis that was repeated on the way forward is summed on the way back

Find the op `subtract` and press %. The cotangent of the offset ends in a `sum` over axis 0, the
days. The cotangent of the scale ends in a sum over both axes. No formula of yours asked for these
two sums; only the shapes did.

The gradient has always the shape of the argument. If a gradient of yours comes out with a shape
that surprises you, a broadcast that you did not see is the first suspect.

Questions to take along:
1. Give `offset` the shape (5, 1). Which axis is summed now?
2. np.mean divides by 15. Where does that 15 turn up in the reverse pass?
3. What is the gradient of np.sum(x + 0 * y) with respect to y, and of what shape?
"""

import numpy as np

import yota

table = np.array(
    [[11.0, 14.0, 9.0], [12.0, 15.0, 9.5], [10.0, 13.0, 8.0], [13.0, 16.5, 11.0], [9.0, 12.0, 7.5]]
)
expected = np.array(
    [[0.1, 0.0, 0.1], [0.2, 0.2, 0.1], [-0.1, -0.2, -0.2], [0.4, 0.4, 0.4], [-0.4, -0.4, -0.3]]
)


def error(offset, scale):
    """Return the mean squared distance from what was expected."""
    scaled = scale * (table - offset)
    return np.mean((scaled - expected) ** 2)


value, g = yota.grad(error, np.array([11.0, 14.0, 9.0]), 0.2)
print("value ", value)
print("offset", g[0])
print("scale ", g[1])
