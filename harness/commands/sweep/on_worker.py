"""What a sweep's worker does. The names of these functions go over the wire: another K3 must find them."""

import os
from pathlib import Path

from gate.judging.rule_set import RULE_SET
from harness.base.processes.host_lock import host_lock
from harness.sweep.messages import Asked, Question
from harness.sweep.proof import prove
from harness.sweep.tasks import Tasks
from harness.sweep.work import Made, run_cell, stop_cells


def prove_worker(question: str) -> str:
    """A `Question` to a `Proof`, both as JSON. It reads weights, which would disturb a run: it waits for its turn, and
    has it before the next run."""
    with host_lock(None):
        return prove(Question.model_validate_json(question), RULE_SET).model_dump_json()


def run_on_worker(asked: str) -> Made:
    """An `Asked` as JSON to what was made."""
    from distributed import get_worker

    folder = Path(get_worker().local_directory)
    return run_cell(Asked.model_validate_json(asked), RULE_SET, folder, undasked(dict(os.environ)))


def undasked(environment: dict[str, str]) -> dict[str, str]:
    """A worker's environment without what Dask sets in it before it starts a worker: one thread for OpenBLAS and its
    like. A run in it would be slower than the same run by hand."""
    import dask

    set_by_dask = dask.config.get("distributed.nanny.pre-spawn-environ", {}) or {}
    return {name: value for name, value in environment.items() if str(set_by_dask.get(name)) != value}


TASKS = Tasks(prove_worker, run_on_worker, stop_cells)
