"""A square root that NaN cannot get through.

    speed(e) = sqrt(2 e)  where e > 0,  and 0 elsewhere

In NumPy one writes np.where(e > 0, np.sqrt(2 * e), 0.0). Both branches are computed for every
element, and where chooses. At the negative element sqrt gives NaN, where throws it away, and the
value is right.

The slope is another matter. Many tools answer NaN for the gradient here, and the question about
it is one of the oldest in their forums. The reason is the product in the chain rule: the branch
that was not chosen receives a cotangent of 0, the slope of sqrt at a negative number is NaN, and
0 · NaN is NaN. The number that was thrown away comes back through the other door.

yota keeps apart two kinds of zero. A zero that was *computed* is a number like any other, and
0 · inf is NaN, as it has to be: think of sqrt(x)**2 at 0, whose slope is 1. A zero that stands for
"this element was not chosen" means that no path leads from the element to the result, and then no
slope of it matters. So look at the reverse pass: behind the division by the root there is a
`where` that you did not write. It puts the elements that were not chosen back to 0.

The alert line says "1 masked" and not "1 alert": a NaN exists on the tape, but it reaches neither
the value nor the gradient. Press ! for its autopsy. `yotaview --check nan` lists it too, and still
answers with exit code 0. An honest infinity is another thing: take the mask away, set e to 0, and
the slope is infinite. Nothing hides that one.

Questions to take along:
1. Why is it not a good idea to replace every NaN in a gradient by 0?
2. Rewrite speed so that sqrt never sees a negative number. This is known as the double where.
3. What should the gradient at e = 0 be? What does the condition e > 0 say about it?
"""

import numpy as np

import yota


def total_speed(e):
    """Return the sum of the speeds that belong to energies."""
    speed = np.where(e > 0, np.sqrt(2 * e), 0.0)
    return np.sum(speed)


with np.errstate(invalid="ignore", divide="ignore"):
    value, g = yota.grad(total_speed, np.array([2.0, -1.0, 0.5]))
print("value   ", value)
print("gradient", g[0])
