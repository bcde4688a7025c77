"""Sessions as files: a zip of `.npy` arrays and one JSON text, opened without running anything."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import re
import zipfile
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from yota.errors import YotaError
from yota.program import Program
from yota.tape import Constant, Frame, Tape, Var, spec_of
from yotaview.capture import Capture, Failure, KeptCall, Row
from yotaview.capture.structure import literals_of
from yotaview.model.bounds import is_like
from yotaview.model.decode import Reader
from yotaview.model.encode import Writer
from yotaview.model.forms import Array, CodecError, Json, Opaque
from yotaview.model.opened import SavedRow

FORMAT = "yotaview session"
VERSION = 1
MANIFEST = "session.json"
ARRAY = re.compile(r"arrays/\d+\.npy")
MAX_BYTES = 2 << 30
MAX_TEXT = 256 << 20
MAX_FILES = 200_000
MAX_HEADER = 16_000
STAMP = (2020, 1, 1, 0, 0, 0)
# what reading a text of another format, or of none, comes to
UNREADABLE = (ValueError, KeyError, TypeError, IndexError, AttributeError, YotaError)
TOO_MUCH = (MemoryError, RecursionError, OverflowError, RuntimeError)


class SessionError(Exception):
    """A file cannot be opened as a session; the text says why."""


class SaveError(OSError):
    """A capture cannot be written so that it could be opened again; the text says why."""


def save(capture: Capture, target: BinaryIO, standing: str = "") -> None:
    """Write a capture: scripts, output, tapes, and inputs and captured values of the kept calls.

    `standing` says where the screen stands, with breakpoints; without it, where it stood before.

    Raises SaveError for one that could not be opened again.
    """
    writer = Writer()
    try:
        with uncollected():
            told = _capture_to_json(capture, writer) | {"standing": standing or capture.standing}
            text = json.dumps(told, allow_nan=False)
            _check_sizes({MANIFEST: len(text)})
            _Content(json.loads(text), writer.arrays.__getitem__).capture()
        _write(target, text, writer.arrays)
    except (SessionError, *UNREADABLE, *TOO_MUCH) as error:
        why = str(error) or type(error).__name__
        raise SaveError(f"this session could not be opened again: {why}") from error


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Let no collection of garbage walk a long tape again and again while it is being made."""
    wanted = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if wanted:
            gc.enable()


def _write(target: BinaryIO, text: str, arrays: list[Array]) -> None:
    sizes = {MANIFEST: len(text)}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_member(MANIFEST), text)
        for k, x in enumerate(arrays):
            raw, name = io.BytesIO(), f"arrays/{k}.npy"
            np.lib.format.write_array(raw, x, allow_pickle=False)
            sizes[name] = raw.tell()
            _check_header(io.BytesIO(raw.getvalue()[:MAX_HEADER]), sizes[name])
            archive.writestr(_member(name), raw.getvalue())
    _check_sizes(sizes)


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, STAMP)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _check_names(names: list[str]) -> None:
    """Refuse what no session holds: other files, and files that hide each other."""
    odd = next((n for n in names if n != MANIFEST and not ARRAY.fullmatch(n)), None)
    if odd is not None:
        raise SessionError(f"it holds a file that no session has: {odd[:60]!r}")
    if len(set(names)) < len(names):
        raise SessionError("it holds two files of one name")


def _check_sizes(sizes: dict[str, int]) -> None:
    if len(sizes) > MAX_FILES or sum(sizes.values()) > MAX_BYTES:
        raise SessionError(f"larger than {MAX_BYTES >> 30} GB or {MAX_FILES:,} files")
    if sizes.get(MANIFEST, MAX_TEXT + 1) > MAX_TEXT:
        raise SessionError(f"no {MANIFEST} in it, or one that is too large")


def _capture_to_json(capture: Capture, w: Writer) -> Json:
    rows = [_row_to_json(row, w) for row in capture.rows]
    return {
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
        "frames": [[f.file, f.line, f.end_line, f.col, f.end_col, f.qualname] for f in w.frames],
        "rows": rows,
    }


def _row_to_json(row: Row, w: Writer) -> Json:
    failure = row.failure
    return {
        "name": row.name,
        "site": w.frame(row.site),
        "kind": row.kind,
        "why": row.program.why_retraced if row.program is not None else "",
        "count": row.count,
        "values": w.value(np.array(row.values, float)),
        "norms": w.value(np.array(row.norms, float)),
        "nonfinite": w.value(np.array(row.nonfinite, np.int64)),
        "by_key": [[k, w.value(np.array(v))] for k, v in row.by_key.items()],
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
        with zipfile.ZipFile(path) as archive, uncollected():
            return _open(archive).capture()
    except SessionError as error:
        raise SessionError(f"{path}: {error}") from error
    except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise SessionError(f"{path}: {error}") from error
    except UNREADABLE as error:
        raise SessionError(f"{path} is not a session that this version reads: {error}") from error
    except TOO_MUCH as error:
        deep = "nested too deeply" if isinstance(error, RecursionError) else type(error).__name__
        raise SessionError(f"{path} cannot be read: {deep}") from error
    except Exception as error:  # whatever unpacking finds in a damaged file, as zlib.error
        raise SessionError(f"{path} is damaged: {error}") from error


def _open(archive: zipfile.ZipFile) -> _Content:
    sizes = {i.filename: i.file_size for i in archive.infolist()}
    _check_names(archive.namelist())
    _check_sizes(sizes)
    head = json.loads(archive.read(MANIFEST), parse_constant=_refuse)
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        raise SessionError(f"of another format or version: this one reads {FORMAT} {VERSION}")
    known: dict[int, Array] = {}

    def array(number: int) -> Array:
        if number not in known:
            name = f"arrays/{number}.npy"
            known[number] = _read_array(archive, name, sizes[name])
        return known[number]

    return _Content(head, array)


def _read_array(archive: zipfile.ZipFile, name: str, size: int) -> Array:
    with archive.open(name) as file:
        _check_header(io.BytesIO(file.read(MAX_HEADER)), size)
    with archive.open(name) as file:
        x: Array = np.lib.format.read_array(file, allow_pickle=False)
    x.flags.writeable = False
    return x


class _Content:
    """What the JSON of a session says, with its arrays."""

    def __init__(self, head: Json, array: Callable[[int], Array]) -> None:
        self.head = head
        self.reader = Reader(array, [_frame(f) for f in head["frames"]])

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
            standing=str(h.get("standing", "")),
        )

    def row(self, j: Json) -> Row:
        r = self.reader
        tape = r.tape(j["tape"])
        _check_values(tape, {v: op.value for v, op in tape if isinstance(op, Constant)})
        literals = literals_of(tape)
        tape.values = self.by_var(j["tape_values"], tape) or None
        failure = None
        if j["failure"] is not None:
            text, origin, error = j["failure"]
            failure = Failure(str(text), r.origin(origin), str(error))
        row = SavedRow(
            str(j["name"]),
            r.frame(j["site"]),
            None if failure is not None else Program(tape, why_retraced=str(j["why"])),
            tape,
            str(j["kind"]),
            [self.call(c, tape, literals) for c in j["calls"]],
            int(j["count"]),
            [float(x) for x in r.value(j["values"])],
            [float(x) for x in r.value(j["norms"])],
            [int(x) for x in r.value(j["nonfinite"])],
            failure,
            literals,
            {str(k): array("d", r.value(v)) for k, v in j.get("by_key", ())},
        )
        _check_calls(row)
        return row

    def call(self, j: Json, tape: Tape, own: tuple[Any, ...]) -> KeptCall:
        value = self.reader.value
        inputs = tuple(map(value, j["inputs"]))
        _check_values(tape, dict(zip(tape.inputs, inputs, strict=True)))
        literals = value(j["literals"])
        if list(map(type, literals)) != list(map(type, own)):
            raise CodecError("other literals than those on the tape")
        return KeptCall(
            int(j["number"]),
            inputs,
            self.by_var(j["constants"], tape),
            value(j["value"]),
            (),
            self.by_var(j["known"], tape),
            literals,
        )

    def by_var(self, pairs: Json, tape: Tape) -> dict[Var, Any]:
        found = {Var(int(k)): self.reader.value(x) for k, x in pairs}
        _check_values(tape, found)
        return found


def _check_values(tape: Tape, values: dict[Var, Any]) -> None:
    """Refuse values of another type than their ops have; what is only text may stand for any."""
    for var, x in values.items():
        if isinstance(x, Opaque) and var in tape:
            continue
        if var not in tape or not is_like(spec_of(x), tape[var].spec):
            raise CodecError(f"{var} is not the {spec_of(x)} that it is said to be")


def _check_calls(row: Row) -> None:
    """Refuse calls whose numbers are not those of calls in their order."""
    numbers = [c.number for c in row.calls]
    for found in (numbers, row.nonfinite):
        if found != sorted({n for n in found if 0 < n <= row.count}):
            raise CodecError(f"calls {found[:8]} of {row.count}")
    for history in (row.values, row.norms, *row.by_key.values()):
        if len(history) > row.count:
            raise CodecError(f"{len(history)} values of {row.count} calls")


def _refuse(constant: str) -> None:
    raise SessionError(f"{constant} is no JSON")


def _frame(j: Json) -> Frame:
    file, line, end_line, col, end_col, name = j
    return Frame(str(file), int(line), int(end_line), int(col), int(end_col), str(name))


def _check_header(raw: io.BytesIO, size: int) -> None:
    """Refuse an array whose header promises more than the file holds."""
    version = np.lib.format.read_magic(raw)
    # the third version differs from the second in the encoding of names of fields alone
    formats = np.lib.format
    read = (formats.read_array_header_2_0, formats.read_array_header_1_0)[version == (1, 0)]
    shape, _, dtype = read(raw)
    count = 1
    for n in shape:
        count *= int(n)
    if dtype.hasobject or min(shape, default=0) < 0 or count * dtype.itemsize > size:
        raise SessionError("an array in it is not what its header says")
