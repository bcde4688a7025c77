"""Sessions as files: a zip of `.npy` arrays and one JSON text, opened without running anything."""

from __future__ import annotations

import io
import json
import math
import operator
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from yota.errors import YotaError
from yota.program import Program
from yota.tape import Call, Frame, Input, Spec, Tape, Var
from yotaview.capture import Capture, Failure, KeptCall, Row
from yotaview.capture.functions import is_users
from yotaview.capture.structure import structure_of
from yotaview.model.codec import CodecError, Json, Reader, Writer

FORMAT = "yotaview session"
VERSION = 1
MANIFEST = "session.json"
MAX_BYTES = 2 << 30
MAX_TEXT = 256 << 20
MAX_FILES = 200_000
MAX_LITERAL = 1 << 28
MAX_SIZE = 1_000_000
_SIZED_BY_LITERALS = frozenset(
    [
        "resize",
        "tile",
        "repeat",
        "pad",
        "reshape",
        "broadcast_to",
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "linspace",
        "logspace",
        "geomspace",
        "arange",
        "eye",
        "identity",
        "tri",
        "vander",
        "bincount",
        "scatter",
        "place",
        "fft",
        "ifft",
        "fft2",
        "ifft2",
        "fftn",
        "ifftn",
        "rfft",
        "irfft",
        "rfft2",
        "irfft2",
        "rfftn",
        "irfftn",
        "hfft",
        "ihfft",
    ]
)
STAMP = (2020, 1, 1, 0, 0, 0)


class SessionError(Exception):
    """A file cannot be opened as a session; the text says why."""


def save(capture: Capture, target: BinaryIO) -> None:
    """Write a capture: scripts, output, tapes, and inputs and captured values of the kept calls."""
    writer = Writer()
    rows = [_row_to_json(row, writer) for row in capture.rows]
    head = {
        "format": FORMAT,
        "version": VERSION,
        "script": capture.script,
        "argv": capture.argv,
        "output": capture.output,
        "error": capture.error,
        "exit_code": capture.exit_code,
        "seconds": capture.seconds,
        "cut": capture.cut,
        "interrupted": capture.interrupted,
        "timed_out": capture.timed_out,
        "sources": {k: list(v) for k, v in capture.sources.items()},
        "frames": [
            [f.file, f.line, f.end_line, f.col, f.end_col, f.qualname] for f in writer.frames
        ],
        "rows": rows,
    }
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_member(MANIFEST), json.dumps(head, allow_nan=False))
        for k, x in enumerate(writer.arrays):
            raw = io.BytesIO()
            np.lib.format.write_array(raw, x, allow_pickle=False)
            archive.writestr(_member(f"arrays/{k}.npy"), raw.getvalue())


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, STAMP)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _row_to_json(row: Row, w: Writer) -> Json:
    failure = row.failure
    return {
        "name": row.name,
        "site": w.frame(row.site),
        "kind": row.kind,
        "count": row.count,
        "values": w.value(np.array(row.values, float)),
        "norms": w.value(np.array(row.norms, float)),
        "nonfinite": w.value(np.array(row.nonfinite, np.int64)),
        "failure": failure and [failure.text, w.origin(failure.origin), failure.error],
        "tape": w.tape(row.tape),
        "tape_values": _by_var(row.tape.values or {}, w),
        "calls": [_call_to_json(c, w) for c in row.calls],
    }


def _call_to_json(call: KeptCall, w: Writer) -> Json:
    return {
        "number": call.number,
        "inputs": [w.value(x) for x in call.inputs],
        "constants": _by_var(call.constants, w),
        "known": _by_var(call.known, w),
        "value": w.value(call.value),
        "literals": w.value(call.literals),
    }


def _by_var(values: dict[Var, Any], w: Writer) -> Json:
    return [[v.id, w.value(x)] for v, x in values.items()]


def load(path: str | Path) -> Capture:
    """Open a saved session; raises SessionError for anything that is not one."""
    if Path(path).exists() and not Path(path).is_file():
        raise SessionError(f"{path} is not a file")
    try:
        with zipfile.ZipFile(path) as archive:
            return _Opened(archive).capture()
    except SessionError:
        raise
    except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise SessionError(f"{path}: {error}") from error
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, YotaError) as error:
        raise SessionError(f"{path} is not a session that this version reads: {error}") from error
    except (MemoryError, RecursionError, OverflowError, RuntimeError) as error:
        raise SessionError(f"{path} cannot be read: {type(error).__name__}") from error
    except Exception as error:  # whatever unpacking finds in a damaged file, as zlib.error
        raise SessionError(f"{path} is damaged: {error}") from error


class _Opened:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.sizes = {i.filename: i.file_size for i in archive.infolist()}
        if len(self.sizes) > MAX_FILES or sum(self.sizes.values()) > MAX_BYTES:
            raise SessionError(f"larger than {MAX_BYTES >> 30} GB or {MAX_FILES:,} files")
        if self.sizes.get(MANIFEST, MAX_TEXT + 1) > MAX_TEXT:
            raise SessionError(f"no {MANIFEST} in it, or one that is too large")
        self.head = json.loads(archive.read(MANIFEST), parse_constant=_refuse)
        if self.head.get("format") != FORMAT or self.head.get("version") != VERSION:
            raise SessionError(f"of another format or version: this one reads {FORMAT} {VERSION}")
        self.arrays: dict[int, np.ndarray[Any, Any]] = {}
        self.reader = Reader(self.array, [_frame(f) for f in self.head["frames"]])

    def array(self, number: int) -> np.ndarray[Any, Any]:
        if number not in self.arrays:
            name = f"arrays/{number}.npy"
            raw = io.BytesIO(self.archive.read(name))
            _check_size(raw, self.sizes[name])
            x = np.lib.format.read_array(raw, allow_pickle=False)
            x.flags.writeable = False
            self.arrays[number] = x
        return self.arrays[number]

    def capture(self) -> Capture:
        h = self.head
        return Capture(
            str(h["script"]),
            [str(a) for a in h["argv"]],
            [self.row(r) for r in h["rows"]],
            str(h["output"]),
            None if h["error"] is None else str(h["error"]),
            int(h["exit_code"]),
            float(h["seconds"]),
            {str(k): tuple(map(str, v)) for k, v in h["sources"].items()},
            None if h["cut"] is None else str(h["cut"]),
            bool(h["interrupted"]),
            bool(h["timed_out"]),
        )

    def row(self, j: Json) -> Row:
        r = self.reader
        tape = r.tape(j["tape"])
        _check_literals(tape)
        literals = structure_of(tape)[1]
        tape.values = self.by_var(j["tape_values"]) or None
        failure = None
        if j["failure"] is not None:
            text, origin, error = j["failure"]
            failure = Failure(str(text), r.origin(origin), str(error))
        return Row(
            str(j["name"]),
            r.frame(j["site"]),
            None if failure is not None else Program(tape),
            tape,
            str(j["kind"]),
            [self.call(c, tape, literals) for c in j["calls"]],
            int(j["count"]),
            [float(x) for x in r.value(j["values"])],
            [float(x) for x in r.value(j["norms"])],
            [int(x) for x in r.value(j["nonfinite"])],
            failure,
            literals,
        )

    def call(self, j: Json, tape: Tape, own: tuple[Any, ...]) -> KeptCall:
        value = self.reader.value
        inputs = tuple(map(value, j["inputs"]))
        for var, x in zip(tape.inputs, inputs, strict=True):
            _check_input(tape, var, x)
        constants, known = self.by_var(j["constants"]), self.by_var(j["known"])
        literals = value(j["literals"])
        if list(map(type, literals)) != list(map(type, own)):
            raise CodecError("other literals than those on the tape")
        number = int(j["number"])
        return KeptCall(number, inputs, constants, value(j["value"]), (), known, literals)

    def by_var(self, pairs: Json) -> dict[Var, Any]:
        return {Var(int(k)): self.reader.value(x) for k, x in pairs}


def _refuse(constant: str) -> None:
    raise SessionError(f"{constant} is no JSON")


def _frame(j: Json) -> Frame:
    file, line, end_line, col, end_col, name = j
    return Frame(str(file), int(line), int(end_line), int(col), int(end_col), str(name))


def _check_size(raw: io.BytesIO, size: int) -> None:
    """Refuse an array whose header promises more than the file holds."""
    version = np.lib.format.read_magic(raw)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(raw)
    count = 1
    for n in shape:
        count *= int(n)
    if dtype.hasobject or count * dtype.itemsize > size:
        raise SessionError("an array in it is not what its header says")
    raw.seek(0)


def _check_input(tape: Tape, var: Var, x: Any) -> None:
    op = tape[var]
    if isinstance(op, Input) and np.shape(x) != op.spec.shape:
        raise CodecError(f"input {op.name} has another shape than its spec")


def _check_literals(tape: Tape) -> None:
    """Refuse calls whose literals ask for more memory than their result could take."""
    for var, op in tape:
        if not isinstance(op, Call) or is_users(op):
            continue
        largest = _largest((op.args, tuple(v for _, v in op.kwargs)))
        too_much = largest > MAX_LITERAL or op.spec.nbytes > MAX_BYTES
        if getattr(operator, op.name, None) is op.fn:
            too_much = too_much or any(isinstance(a, str | bytes | list | tuple) for a in op.args)
        elif op.name in _SIZED_BY_LITERALS:
            room = sum(_elements(tape[v].spec) for v in (var, *op.operands))
            too_much = too_much or largest > 4 * max(room, MAX_SIZE)
        if too_much:
            raise SessionError(f"{var} {op.name} asks for too much memory")


def _elements(spec: Spec) -> int:
    if spec.kind == "tuple":
        return sum(map(_elements, spec.items))
    return math.prod(spec.shape)


def _largest(tree: Any) -> int:
    """Return the largest integer, or product of a tuple of integers, among literals."""
    if type(tree) is int:
        return abs(tree)
    if isinstance(tree, tuple | list):
        inner = max(map(_largest, tree), default=0)
        if tree and all(type(n) is int for n in tree):
            product = 1
            for n in tree:
                product *= max(abs(n), 1)
            return max(inner, product)
        return inner
    return 0
