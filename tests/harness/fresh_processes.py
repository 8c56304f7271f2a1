"""Where the processes of a timed run are in tests: in that of the test, unless a test asks for the real ones.

To start Python and import MLX for each of them would take minutes in all. Their own processes, and what kills one or
the other, are under test wherever a test starts `k3` itself (`killed`) or says `processes_of_their_own`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from harness.base.progress import Progress
from harness.runs import fresh_process, timed_run


def in_this_process(work: Callable[..., None], arguments: Sequence[Any], progress: Progress) -> None:
    work(*arguments, progress)


@contextmanager
def one_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timed_run, "in_fresh_process", in_this_process)
        yield


@contextmanager
def processes_of_their_own() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timed_run, "in_fresh_process", fresh_process.in_fresh_process)
        yield
