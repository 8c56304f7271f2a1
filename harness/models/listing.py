"""The known models and which of them are on this machine."""

from typing import Literal

from harness.base.errors import ModelError
from harness.base.remedies import remedy_of
from harness.models.faithfulness import load_faithfulness
from harness.models.folder.identity import known_identity
from harness.models.folder.model_folder import open_folder
from harness.models.info import architecture
from harness.models.registry import registry
from harness.models.resolve import Located, locate
from reports.records.provenance import Faithfulness
from reports.records.record import Bytes, Name, Record


class ListedModel(Record):
    """One line of `k3 models list`. What is not known of an absent model stays out."""

    name: Name
    summary: str
    source: Literal["package", "folder", "hub", "shipped"]
    state: Literal["present", "absent", "unknown"]
    problem: str | None = None
    size: Bytes | None = None
    architecture: Name | None = None
    faithfulness: Faithfulness | None = None


def list_models() -> tuple[ListedModel, ...]:
    """Every known model, in the order of the registry; reads no weights."""
    return tuple(_listed(name) for name in registry().models)


def _listed(name: str) -> ListedModel:
    known = registry().models[name]
    line = ListedModel(name=name, summary=known.summary, source=known.source.kind, state="absent")
    try:
        located = locate(name)
        return _describe(line, located)
    except ModelError as error:
        return line.replace(problem=str(error))
    except ImportError as error:  # the gate was installed alone
        return line.replace(state="unknown", problem=f"{error.name} is not installed: {remedy_of(error.name)}")


def _describe(line: ListedModel, located: Located) -> ListedModel:
    identity = known_identity(located.folder)
    return line.replace(
        state="present",
        size=sum(path.stat().st_size for path in located.folder.iterdir() if path.is_file()),
        architecture=architecture(open_folder(located.folder).config),
        faithfulness=load_faithfulness(identity) if identity else None,
    )
