"""The work folder: finished units stay there, so that the same command continues where it stopped.

Each unit is one file that appears whole or not at all (written beside its place, flushed to the disk, moved) and
carries a checksum; a damaged one is computed again. The name of a unit's file is the fingerprint of everything
that decides its value, so a unit of other options is never taken for this one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unjudged.errors import InputError, UsageError

Arrays = dict[str, Any]
"""What a unit gives: numpy arrays by name."""

_MANIFEST = "inputs.json"
_MAGIC = b"unjudged unit 1\n"


class Workdir:
    """A folder of finished units of studies over the same inputs."""

    def __init__(self, folder: str | os.PathLike[str], inputs: Mapping[str, Mapping[str, str]]) -> None:
        self.folder = Path(folder)
        self.damaged = 0
        self._taken = 0
        self._trusted = True
        try:
            (self.folder / "units").mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise self._refused("cannot be made", problem) from None
        self._check_inputs({name: dict(parts) for name, parts in inputs.items()})

    def _check_inputs(self, inputs: dict[str, dict[str, str]]) -> None:
        """The folder belongs to one set of inputs; others are told, and nothing in it is touched."""
        path = self.folder / _MANIFEST
        try:
            known = json.loads(_content(path).decode("utf-8"))["inputs"]
            if not all(isinstance(parts, dict) for parts in known.values()):
                raise ValueError
        except FileNotFoundError:
            if any((self.folder / "units").iterdir()):
                raise UsageError(
                    f"{self.folder}: this work folder does not say whose units it holds; give another one"
                ) from None
            self._write(path, (json.dumps({"inputs": inputs}, indent=1, sort_keys=True) + "\n").encode())
            return
        except OSError as problem:
            raise self._refused("cannot be read", problem) from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise UsageError(f"{path}: this is not the list of inputs of a work folder; give another folder") from None
        if known == inputs:
            return
        if known.keys() != inputs.keys():
            what = "other collections"
        else:
            parts = {p for name in inputs for p in inputs[name] if known[name].get(p) != inputs[name][p]}
            what = "other " + " and ".join(sorted(parts, key=list(next(iter(inputs.values()))).index))
        raise UsageError(f"{self.folder}: this work folder holds units of {what}; give another folder, or remove it")

    def load(self, key: str) -> Arrays | None:
        """A finished unit, or None; a damaged file, or what is no file, counts as none."""
        path = self._path(key)
        if not self._trusted:
            return None
        try:
            data = _content(path)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise self._refused("cannot be read", problem) from None
        head = len(_MAGIC) + 65
        body = data[head:]
        if data[:head] != _MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n":
            self.damaged += 1
            return None
        try:
            with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
                unit = dict(arrays)
        except Exception:  # right sum, wrong content: a dozen kinds of complaints of zip files and NumPy
            self.damaged += 1
            return None
        self._taken += 1
        return unit

    def distrusted(self) -> bool:
        """Take nothing more from here, and count what was taken as damaged; False where nothing was."""
        self.damaged += self._taken
        self._trusted, taken = False, self._taken
        self._taken = 0
        return taken > 0

    def keep(self, key: str, arrays: Arrays) -> None:
        """Write a finished unit."""
        body = _packed(arrays)
        self._write(self._path(key), _MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    def _path(self, key: str) -> Path:
        return self.folder / "units" / f"{key}.unit"

    def _write(self, path: Path, data: bytes) -> None:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
        try:
            try:
                with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:  # noqa: PTH123
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(path)
            except BaseException:
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)
                raise
            _flush_folder(path.parent)
        except OSError as problem:
            raise self._refused("cannot be written", problem) from None

    def _refused(self, what: str, problem: OSError) -> InputError:
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        hint = "; finished units are kept: free some space and give the same command again" if full else ""
        return InputError(f"the work folder {what} ({problem.strerror}){hint}", str(self.folder))


def _content(path: Path) -> bytes:
    """The bytes of a file; a pipe or device, which may have no end, is refused."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: this is not a file; give another work folder, or remove it")
    return path.read_bytes()


def _packed(arrays: Arrays) -> bytes:
    """As numpy's npz, with fixed dates: the same arrays give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, value in arrays.items():
            part = io.BytesIO()
            np.save(part, np.asarray(value), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), part.getvalue())
    return buffer.getvalue()


def _flush_folder(folder: Path) -> None:
    """The folder's list of names to the disk, where the system can."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):  # some file systems refuse this
                os.fsync(number)
        finally:
            os.close(number)
