"""The names that home and workers share: what runs on a worker, and what a worker must offer."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.sweep.work import Made

RUN = "k3-run"
"""The resource of which a worker has one, and a cell takes one: `dask worker --resources k3-run=1`."""


@dataclass(frozen=True)
class Tasks:
    """Functions of modules that are on every worker: they go over the wire by name, their arguments as JSON."""

    prove: Callable[[str], str]
    run: Callable[[str], Made]
    stop: Callable[[], None]
