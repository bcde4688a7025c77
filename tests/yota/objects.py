"""Objects that functions read; their attributes are changed between calls."""

from __future__ import annotations

import dataclasses

SCALE = 2.0


class Config:
    rate = 2.0

    def __init__(self, size):
        self.size = size

    def __call__(self, x):
        return x * self.size * self.rate

    @property
    def twice(self):
        return self.size * 2

    @staticmethod
    def times(x):
        return x * SCALE

    @classmethod
    def rated(cls, x):
        return x * cls.rate


@dataclasses.dataclass
class Mutable:
    factor: float = 2.0
    parts: list = dataclasses.field(default_factory=lambda: [1.0])

    def apply(self, x):
        return x * self.factor * self.parts[0]
