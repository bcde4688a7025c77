"""A small network, every gradient at once.

Four inputs and four answers: exclusive or, which no straight line can separate. Two layers can.

    hidden = tanh(x @ W1 + b1)
    logit  = hidden @ W2 + b2
    loss   = mean(log(1 + exp(logit)) - y * logit)

The parameters are a dict, and so is the gradient: it has the same keys, and each entry has the
shape of its parameter. One walk back over the tape finds all of them. It costs about as much as a
few evaluations of the loss, whether there are 17 parameters, as here, or a billion. That one fact
is why training large networks is possible at all.

The script takes 200 steps. View 6, Tapes, shows a single row for them, since all have the same
structure; the small chart beside it is the loss, step by step. With [ and ] you go from one kept
call to the next, standing on the same op: watch what becomes of the hidden layer.

Two things are worth a look. The derivative of a product of matrices is a product with a transpose;
press % on a `matmul` to see both. And the loss is written with np.logaddexp(0, logit) rather than
with log and exp. Put the formula above in its place, multiply the logit by 1000, and run
`yotaview --check nan`: it names the op at which the overflow begins.

Questions to take along:
1. Why do we add the gradient of b1 over all four rows? (The lesson `broadcast` has the answer.)
2. Start from W1 = 0. Which gradients are zero, and can the network ever learn?
3. Which arrays of the forward pass must stay in memory until the reverse pass reads them?
"""

import numpy as np

import yota

x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = np.array([0.0, 1.0, 1.0, 0.0])


def loss(params):
    """Return the mean negative log-likelihood."""
    hidden = np.tanh(x @ params["W1"] + params["b1"])
    logit = hidden @ params["W2"] + params["b2"]
    return np.mean(np.logaddexp(0.0, logit) - y * logit)


rng = np.random.default_rng(4)
params = {
    "W1": rng.standard_normal((2, 4)),
    "b1": np.zeros(4),
    "W2": rng.standard_normal(4),
    "b2": np.zeros(1),
}
for step in range(200):
    value, g = yota.grad(loss, params)
    yota.update(params, g[0], lambda p, dp: p - 0.5 * dp)
    if step % 50 == 0:
        print(f"step {step:3d}  loss {value:.4f}")
print(f"at last   loss {value:.4f}")
