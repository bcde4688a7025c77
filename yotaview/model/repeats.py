"""Where a sequence repeats itself: the loops of a program of which only the trace is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat

PRIME, BASE = (1 << 61) - 1, 1_000_003
TRIES = 6
PERIODS = (1, 8, 64, 512, 4096, 32768)

Fits = Callable[[int, int, int], bool]
Rank = Callable[[int], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Elements `begins[0]` up to `end`, which repeat themselves at each of `begins`."""

    begins: tuple[int, ...]
    end: int

    @property
    def count(self) -> int:
        """How often it repeats."""
        return len(self.begins)


class Keys:
    """A sequence of keys in which equal parts are found at once, whatever their length."""

    def __init__(self, keys: Sequence[int]) -> None:
        self.keys = keys
        self.sums = list(accumulate(keys, lambda s, k: (s * BASE + k + 1) % PRIME, initial=0))
        one, bases = 1, repeat(BASE, len(keys))
        self.powers = list(accumulate(bases, lambda p, b: p * b % PRIME, initial=one))
        self.onward = _next_places(keys)

    def digest(self, start: int, end: int) -> int:
        """Return a number that equal parts share."""
        return (self.sums[end] - self.sums[start] * self.powers[end - start]) % PRIME

    def same(self, a: int, b: int) -> int:
        """Count the elements in which what begins at `a` and what begins at `b` > `a` agree."""
        low, high = 0, len(self.keys) - b
        step = 1  # gallop, then halve
        while step < high and self.digest(a, a + step) == self.digest(b, b + step):
            low, step = step, 2 * step
        high = min(high, step)
        while low < high:
            middle = (low + high + 1) // 2
            if self.digest(a, a + middle) == self.digest(b, b + middle):
                low = middle
            else:
                high = middle - 1
        return low


def _next_places(keys: Sequence[int]) -> list[int]:
    """Return for each element where its key stands next, the length where it does not."""
    seen: dict[int, int] = {}
    found = [len(keys)] * len(keys)
    for k in range(len(keys) - 1, -1, -1):
        found[k] = seen.get(keys[k], len(keys))
        seen[keys[k]] = k
    return found


def find_repeats(keys: Sequence[int], fits: Fits, rank: Rank) -> list[Repeat]:
    """Return where a sequence repeats itself, the outermost of nested repeats.

    An inner one may run any number of times in each iteration of an outer one.  `fits(start, end,
    period)` says whether a repeat may be one; of the places where it could begin the one with the
    least `rank` is taken.
    """
    folded = _Folded(keys, fits, rank)
    for longest in PERIODS:
        if longest > 8 * len(folded.starts):
            break
        folded.fold(longest)
    return [r for start in folded.starts if (r := folded.repeats.get(start)) is not None]


class _Folded:
    """A sequence in which repeats stand as one element each; short ones are folded first."""

    def __init__(self, keys: Sequence[int], fits: Fits, rank: Rank) -> None:
        self.keys, self.fits, self.rank = Keys(keys), fits, rank
        self.starts = list(range(len(keys)))
        self.total = len(keys)
        self.repeats: dict[int, Repeat] = {}
        self.names: dict[int, int] = {}
        self.fresh = max(keys, default=0) + 1

    def name(self, body: int) -> int:
        """Return the key of a repeat by the digest of its body, unlike that of any element."""
        return self.names.setdefault(body, self.fresh + len(self.names))

    def fold(self, longest: int) -> None:
        """Fold what repeats with a period of at most so many elements."""
        keys, starts = self.keys, self.starts
        if not any(there - k <= longest for k, there in enumerate(keys.onward)):
            return
        left: list[int] = []
        tokens: list[int] = []
        at = 0
        while at < len(starts):
            near = keys.onward[at] - at <= longest
            start, period, times = self.repeat_at(at, longest) if near else (at, 0, 1)
            plain = at + 1 if times < 2 else start
            left += starts[at:plain]
            tokens += keys.keys[at:plain]
            at = plain
            if times > 1:
                at = start + period * times
                self.repeats[starts[start]] = self.make(start, period, times)
                left.append(starts[start])
                tokens.append(self.name(keys.digest(start, start + period)))
        if len(left) < len(starts):
            self.starts, self.keys = left, Keys(tokens)

    def make(self, start: int, period: int, times: int) -> Repeat:
        """Return a repeat by where its iterations begin in the whole sequence."""
        begins = tuple(self.starts[start + k * period] for k in range(times))
        return Repeat(begins, self.end_of(start + times * period))

    def end_of(self, k: int) -> int:
        """Return where element `k` - 1 ends in the whole sequence."""
        return self.starts[k] if k < len(self.starts) else self.total

    def repeat_at(self, at: int, longest: int) -> tuple[int, int, int]:
        """Return where the repeat at an element that covers most begins, its period and count."""
        keys, there = self.keys, self.keys.onward[at]
        best = covered = spare = 0
        for _ in range(TRIES):
            period = there - at
            if period > longest or there + period > len(keys.keys):
                break
            if keys.digest(at, there) == keys.digest(there, there + period):
                same = keys.same(at, there)
                if same - same % period + period > covered:
                    best, covered, spare = period, same - same % period + period, same % period
            there = keys.onward[there]
        if not best:
            return at, 0, 1
        starts = self.starts
        start = min(range(at, at + spare + 1), key=lambda k: (self.rank(starts[k]), k))
        end = self.end_of(start + covered)
        good = self.fits(starts[start], end, starts[start + best] - starts[start])
        return (start, best, covered // best) if good else (at, 0, 1)
