"""Code of other packages at work: whatever it raises is told in one line as theirs, and never as a bug of K3's."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from harness.base.errors import EngineError, K3Error
from harness.engines.spec import DrafterSpec
from reports.drafters import loaded_by
from reports.engines import built_by


class Asked(Protocol):
    """The part of an arm that names code: its engine, and its drafter."""

    @property
    def engine(self) -> str: ...

    @property
    def drafter(self) -> DrafterSpec | None: ...


@contextmanager
def others_faults(asked: Asked) -> Iterator[None]:
    """Run an engine within.

    Raises:
        EngineError: in place of whatever an engine or a drafter of another package raised.
    """
    drafter = asked.drafter.kind if asked.drafter is not None else None
    others = [f"engine {asked.engine}"] if built_by(asked.engine) is not None else []
    others += [f"drafter {drafter}"] if drafter is not None and loaded_by(drafter) is not None else []
    try:
        yield
    except K3Error:
        raise
    except (Exception, SystemExit) as error:
        if not others:
            raise
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise EngineError(f"{' with '.join(others)}, of another package, failed: {problem}") from error
