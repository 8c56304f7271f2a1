"""Whether both sides mean the same: the preset is the executor's own, and the commit's files are files."""

from harness.base.errors import UsageError
from harness.bridge.git import Repository
from harness.bridge.manifest import Request, RequestError
from harness.bridge.trees import KINDS, Entry, entries, entry_at, read_blob, size_of
from harness.plans.preset import BasePreset
from harness.plans.preset_file import PRESET_LIMIT, load_preset
from reports.records.record import digest_of
from reports.untrusted.one_line import one_line

MOST_FILES, MOST_BYTES = 20_000, 2**31
"""Of a commit. K3 has some 1,000 files, and 50 MB with its own models."""


def check_agreed(repository: Repository, request: Request) -> BasePreset:
    """The preset that the request asks for, as this K3 ships it, changed as the request says.

    Raises:
        RequestError: this K3 has no such preset, or another one than the requester or the commit; a value that the
            preset does not take; or a commit that holds more than files.
    """
    try:
        settings = request.overrides.settings(load_preset(request.preset).preset)
        loaded = load_preset(request.preset, settings)
        if request.preset_digest != loaded.digest:
            raise RequestError(f"preset_digest: the executor's {request.preset} is another: update K3 on either side")
        for name in (request.preset, *loaded.preset.beside):
            _check_preset(repository, request.base, name)
    except UsageError as error:
        raise RequestError(str(error)) from error
    check_tree(entries(repository, request.base))
    return loaded.preset


def check_tree(found: list[Entry]) -> None:
    """See that a commit can be written out as plain files.

    Raises:
        RequestError: a link, a submodule, a path that git or a file system would misread, or too much of it.
    """
    for entry in found:
        if entry.mode in KINDS:
            raise RequestError(f"{one_line(entry.path, 100)}: is {KINDS[entry.mode]}; commit the files")
        parts = entry.path.split("/")
        if any(part.lower() in ("", ".", "..", ".git") or not part.isprintable() for part in parts):
            raise RequestError(f"{one_line(entry.path, 100)}: is no path to write to")
    if len({entry.path.lower() for entry in found}) < len(found):
        raise RequestError("two paths differ in upper and lower case alone")
    if len(found) > MOST_FILES or sum(entry.size for entry in found) > MOST_BYTES:
        raise RequestError(f"{len(found)} files: over {MOST_FILES}, or over {MOST_BYTES >> 30} GiB")


def _check_preset(repository: Repository, base: str, name: str) -> None:
    entry = entry_at(repository, base, f"presets/{name}.toml")
    if entry is None:
        raise RequestError(f"presets/{name}.toml: not in the commit to be run")
    small = size_of(repository, entry.blob) <= PRESET_LIMIT
    if not small or digest_of(read_blob(repository, entry.blob)) != load_preset(name).digest:
        raise RequestError(f"presets/{name}.toml: was edited in the commit to be run; the executor agreed to its own")
