"""The chain rule as a walk along the tape.

    height(t) = sin(t**2) * exp(-t)

A pencil and the product rule give the derivative in a line or two. The tape gets there in another
way, and it is the way that still works when the function has a thousand lines.

Forward, every op computes its value from values above it. In reverse, every op is asked a
question: if your result changed a little, how much would the height change? The answer is called
the *cotangent* of the op; the viewer writes it δ%n. The last op's own cotangent is the seed, 1.0.
From there one rule is enough:

    δ(operand) += δ(result) · (slope of the result with respect to this operand)

Press % on a forward op to jump to the op that completes its cotangent, and % again to come back.
The pane "Why this value" shows the rule as a textbook has it, with the line of your function that
it belongs to.

Look for the input t. Two paths lead from t to the height, one through t**2 and one through -t.
Each of them sends a contribution back, and the tape adds the two: that `add` is the "+" of the
product rule. A program that forgot to add them would be wrong wherever a variable is used twice,
which is nearly everywhere.

Questions to take along:
1. How many ops has the reverse pass for each forward op? Is there a bound?
2. Which forward values does the reverse pass read again? They have to be kept until then.
3. Replace -t by a second argument s. What is the gradient with respect to s at s = -t?
"""

import numpy as np

import yota


def height(t):
    """Return the height of a fading wave."""
    wave = np.sin(t**2)
    fade = np.exp(-t)
    return wave * fade


value, g = yota.grad(height, 1.2)
by_hand = np.exp(-1.2) * (2 * 1.2 * np.cos(1.2**2) - np.sin(1.2**2))
print("value   ", value)
print("gradient", g[0])
print("by hand ", by_hand)
