"""Reading a file of a model folder: a regular one, of bounded size, in JSON that has one meaning."""

import os
import re
import stat
from pathlib import Path
from typing import Any

from harness.base.errors import ModelError
from reports.untrusted.one_line import one_line
from reports.untrusted.strict_json import BYTE_ORDER_MARK, StrictJsonError, parse

SETTINGS_LIMIT = 4 * 2**20
"""Bytes of a config. The largest honest ones list how every layer of a mixture was quantised: half a megabyte."""
LFS_POINTER = re.compile(rb"version \S+\s+oid sha256:[0-9a-f]{64}\s+size \d+\s*")
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def read_start(path: Path, count: int) -> bytes:
    """The first `count` bytes of a file; never waits on a pipe and never reads a device. Links are followed: the cache
    of the hub is made of them.

    Raises:
        ModelError: missing, unreadable, or no regular file.
    """
    try:
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ModelError(f"{path}: is no file: nothing but files can be read from a model folder")
            return file.read(count)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: missing: this is no whole model folder") from error
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise ModelError(f"{path}: cannot be read: {one_line(reason)}") from error


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of a file of at most `limit`.

    Raises:
        ModelError: as `read_start`, or larger.
    """
    data = read_start(path, limit + 1)
    if len(data) > limit:
        raise ModelError(f"{path}: over {limit >> 20} MB, which no honest file of this name is: take the model's own")
    return data


def read_object(path: Path, limit: int = SETTINGS_LIMIT) -> dict[str, Any]:
    """A JSON object from a file of settings.

    Raises:
        ModelError: as `read_file`; a Git-LFS pointer, not UTF-8, no JSON object, NaN, a key twice, too deep.
    """
    data = read_file(path, limit)
    if LFS_POINTER.fullmatch(data[:1024]):
        raise ModelError(f"{path}: a Git-LFS pointer in place of the file: run `git lfs pull` in that folder")
    if data.startswith(BYTE_ORDER_MARK):
        raise ModelError(f"{path}: begins with a byte order mark, at which libraries stop: save it as plain UTF-8")
    try:
        document = parse(data)
    except StrictJsonError as error:
        reason = str(error).removeprefix("not JSON: ")
        raise ModelError(f"{path}: not valid JSON: {reason}: take the model's own file") from error
    if document.lines or not isinstance(document.value, dict):
        raise ModelError(f"{path}: not a JSON object: take the model's own file")
    return document.value
