"""The energy in a band of frequencies."""

import numpy as np

import yota


def f(x):
    spectrum = np.fft.rfft(x)
    return np.sum(np.abs(spectrum[1:5]) ** 2)


yota.grad(f, np.cos(np.arange(16.0)))
