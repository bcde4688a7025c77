"""Lessons: runnable scripts whose docstring is the lesson."""

from pathlib import Path

LESSONS = {
    "seed": "one exp, seen twice on the tape and once in the code",
    "chain": "the chain rule as a walk along the tape",
    "broadcast": "what numpy repeats, the reverse pass sums",
    "masked": "a square root that NaN cannot get through",
    "mlp": "a small network, every gradient at once",
}
FIRST = "seed"


def lesson_path(name: str) -> str:
    """Return the file of a lesson."""
    return str(Path(__file__).resolve().parent / f"{name}.py")


def next_lesson(path: str) -> str | None:
    """Return the name of the lesson behind the one in a file, None behind the last."""
    names = [*LESSONS, None]
    name = Path(path).stem
    return names[names.index(name) + 1] if name in LESSONS else None
