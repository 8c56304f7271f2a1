"""From the name or path a user gives to a model folder that is known to be whole."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from harness.base.errors import ModelError
from harness.models.cache import package_folder
from harness.models.folder.files import SETTINGS_LIMIT, read_file
from harness.models.folder.identity import ModelIdentity, identity_of
from harness.models.folder.model_folder import open_folder
from harness.models.registry import (
    FolderSource,
    HubSource,
    ModelEntry,
    PackageSource,
    ShippedSource,
    entry,
    registry,
    unknown_model,
)
from reports.records.record import Digest, Name, Record
from reports.untrusted.nearest import path_meant
from reports.untrusted.one_line import one_line

RECORD = "k3.json"
_ENVIRONMENT = re.compile(r"\$\{ENV:([A-Za-z_][A-Za-z0-9_]*)\}")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_SNAPSHOT = re.compile(r"[0-9a-f]{40}")


class ConversionRecord(Record):
    """What a converted folder was made from; written last, so a folder with it is a finished one."""

    name: Name
    revision: Name
    gguf: Digest
    quantisation: Name
    converter: int
    weights: Digest


@dataclass(frozen=True)
class Located:
    """A model folder found by name, its weights not read yet; `weights`: the digest they must have, if it is known."""

    id: str
    folder: Path
    revision: str | None
    terms: str | None
    conversion: ConversionRecord | None
    weights: str | None = None


@dataclass(frozen=True)
class ResolvedModel:
    """A model folder with whole weight files, and which model it is by content.

    `id` never contains a path of the user's: it is the registry name, the hub id or the folder's own name.
    `quantisation` is what the weights went through before they were converted, if K3 converted them.
    """

    id: str
    folder: Path
    revision: str | None
    identity: ModelIdentity
    terms: str | None
    quantisation: str | None

    @property
    def weights(self) -> str:
        """The digest of its weights."""
        return self.identity.weights


def resolve(name_or_path: str) -> ResolvedModel:
    """The model called `name_or_path`: a registry name, a folder, `${ENV:VARIABLE}` or a hub id.

    Raises:
        ModelError: unknown (the nearest name is suggested), known but not on this machine (with the command that
            gets it), or damaged.
    """
    located = locate(name_or_path)
    identity = identity_of(located.folder)
    conversion = located.conversion
    if conversion is not None and conversion.weights != identity.weights:
        raise ModelError(f"{located.folder}: the weights are not those converted: run `k3 models fetch {located.id}`")
    if located.weights is not None and located.weights != identity.weights:
        raise ModelError(f"{located.folder}: the weights are not those that K3 ships: install K3 again")
    quantisation = conversion.quantisation if conversion else None
    return ResolvedModel(located.id, located.folder, located.revision, identity, located.terms, quantisation)


def locate(name_or_path: str) -> Located:
    """Find the folder of a model without reading its weights.

    Raises:
        ModelError: unknown, not on this machine, or its weight files are missing or not whole.
    """
    if name_or_path in registry().models:
        return _locate_entry(name_or_path, entry(name_or_path))
    if _ENVIRONMENT.fullmatch(name_or_path):
        folder = _folder(name_or_path)
        return _checked(Located(_name_of(folder), folder, _snapshot(folder), None, None))
    existing = _existing(name_or_path)
    if existing is not None:
        return _checked(Located(_name_of(existing.resolve()), existing, _snapshot(existing), None, None))
    if _HUB_ID.fullmatch(name_or_path):
        return _locate_hub(name_or_path, HubSource(kind="hub", repository=name_or_path), None)
    if os.sep in name_or_path:
        raise ModelError(f"{name_or_path}: no such model folder{path_meant(Path(name_or_path))}")
    raise ModelError(unknown_model(name_or_path, tuple(registry().models)))


def _locate_entry(name: str, known: ModelEntry) -> Located:
    source = known.source
    if isinstance(source, PackageSource):
        return _locate_package(name, source, known.terms)
    if isinstance(source, FolderSource):
        folder = _folder(source.path)
        return _checked(Located(name, folder, _snapshot(folder), known.terms, None))
    if isinstance(source, ShippedSource):
        return _checked(Located(name, source.folder, source.revision, known.terms, None, source.weights))
    return _locate_hub(name, source, known.terms)


def _locate_package(name: str, source: PackageSource, terms: str) -> Located:
    folder = package_folder(name, source)
    remedy = f"run `k3 models fetch {name}`"
    if not folder.is_dir():
        raise ModelError(f"{name} is not on this machine: {remedy}")
    try:
        record = ConversionRecord.model_validate_json(read_file(folder / RECORD, SETTINGS_LIMIT))
        return _checked(Located(name, folder, source.revision, terms, record))
    except ValidationError as error:
        raise ModelError(f"{folder / RECORD}: damaged: {remedy}") from error
    except ModelError as error:
        raise ModelError(f"{error}; {remedy}") from error


def _locate_hub(name: str, source: HubSource, terms: str | None) -> Located:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    revision = f" --revision {source.revision}" if source.revision else ""
    try:
        found = snapshot_download(source.repository, revision=source.revision, local_files_only=True)
    except (LocalEntryNotFoundError, HFValidationError, HfHubHTTPError, OSError) as error:
        raise ModelError(
            f"{source.repository} is no folder here and not in the hub's cache: "
            f"run `hf download {source.repository}{revision}`"
        ) from error
    folder = Path(found)
    return _checked(Located(name, folder, source.revision or _snapshot(folder), terms, None))


def _checked(located: Located) -> Located:
    open_folder(located.folder)
    return located


def _name_of(folder: Path) -> str:
    return one_line(folder.name, 200) or "model"


def _existing(path: str) -> Path | None:
    """What is at `path`, absolute; None if nothing is, or if no path can look like this."""
    try:
        found = Path(path).expanduser().absolute()
        return found if path and found.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None


def _folder(path: str) -> Path:
    """The folder a source names, with `${ENV:VARIABLE}` replaced."""
    match = _ENVIRONMENT.fullmatch(path)
    if match is None:
        return Path(path).expanduser().absolute()
    value = os.environ.get(match[1], "")
    if not value:
        raise ModelError(f"{path}: set the environment variable {match[1]} to the path of the model folder")
    return Path(value).expanduser().absolute()


def _snapshot(folder: Path) -> str | None:
    """The commit in the name of a hub snapshot's folder."""
    return folder.name if _SNAPSHOT.fullmatch(folder.name) and folder.parent.name == "snapshots" else None
