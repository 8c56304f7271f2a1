"""What a cell of a sweep costs home and its scheduler, with many workers: the real dispatcher on Dask's real scheduler
in a process of its own; only the cells sleep, so that a thousand "machines" fit on one. Ends with 1 if a cell is lost,
comes home twice, or runs on a machine that has one."""

import argparse
import asyncio
import json
import logging
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from harness.base.clock import now
from harness.base.provenance import read_host
from harness.plans.preset import NamedModel
from harness.sweep.crew import Crew
from harness.sweep.dispatch import Dispatch, Home
from harness.sweep.messages import Answer, Proof
from harness.sweep.scheduler import existing, read_address
from harness.sweep.tasks import RUN, Tasks
from harness.sweep.work import Made
from reports.records.provenance import Host, SourceCode
from reports.records.record import digest_of

SOURCE = SourceCode(version="0.0.0", files=digest_of(b"sleeping"))
RULE_SET = 1
PATIENCE_S = 300.0
REPORT = b"x" * 21_000
"""What comes home of a cell: as many bytes as a report of the demo has."""


LOOKED_AT = {"distributed.worker.profile.enabled": False, "distributed.admin.system-monitor.interval": "10 s"}
"""Dask looks at what a worker does a hundred times a second: nothing to a machine, and all a process of many
workers does."""


@dataclass(frozen=True)
class Sleep:
    """A cell that waits."""

    name: str
    seconds: float
    machine: str | None = None

    def models(self) -> tuple[NamedModel, ...]:
        return ()

    def asked(self) -> str:
        return json.dumps({"name": self.name, "seconds": self.seconds})


def prove(question: str) -> str:
    """Every worker is a machine of its own, called after its address; they are built like the one that is told."""
    from distributed import get_worker

    address = get_worker().address
    host = Host.model_validate_json(question).replace(label=address.rpartition(":")[2])
    return Proof(
        machine=digest_of(address.encode()), host=host, source=SOURCE, rule_set=RULE_SET, models=()
    ).model_dump_json()


def sleep(asked: str) -> Made:
    """Sleep, and come home with a report's weight."""
    told = json.loads(asked)
    begun = time.perf_counter()
    time.sleep(told["seconds"])
    return Answer(outcome="made", seconds=time.perf_counter() - begun).model_dump_json(), {told["name"]: REPORT}


def stop() -> None:
    """A sleeper ends by itself."""


def serve_scheduler(told: Any) -> None:
    """Dask's scheduler, for as long as this process lives; its address goes to `told`."""

    logging.disable(logging.WARNING)

    async def forever() -> None:
        from distributed import Scheduler

        async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
            told.send(scheduler.address)
            await scheduler.finished()

    asyncio.run(forever())


def serve_workers(address: str, count: int, folder: str) -> None:
    """Workers of one thread each, in one process."""

    import dask

    logging.disable(logging.WARNING)
    dask.config.set(LOOKED_AT)

    async def forever() -> None:
        from distributed import Worker

        workers = [
            Worker(address, nthreads=1, resources={RUN: 1}, memory_limit=0, dashboard=False, local_directory=folder)
            for _ in range(count)
        ]
        await asyncio.gather(*workers)
        await asyncio.gather(*(worker.finished() for worker in workers))

    asyncio.run(forever())


@contextmanager
def crowd(workers: int, processes: int, folder: str) -> Iterator[str]:
    """A scheduler and its workers in processes of their own; its address."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe(duplex=False)
    started = [spawn.Process(target=serve_scheduler, args=(there,), daemon=True)]
    started[0].start()
    address: str = here.recv()
    for number in range(processes):
        count = workers // processes + (number < workers % processes)
        started.append(spawn.Process(target=serve_workers, args=(address, count, folder), daemon=True))
        started[-1].start()
    try:
        yield address
    finally:
        for process in started:
            process.terminate()
            process.join()


@dataclass
class Watch:
    """What home sees: the cells that came, and machines that had a second one beside their first."""

    came: Counter[str] = field(default_factory=Counter)
    running: Counter[str] = field(default_factory=Counter)
    doubled: int = 0

    def say(self, line: str) -> None:
        """The dispatcher's lines tell who runs what."""
        machine, _, what = line.partition(": ")
        if what.startswith("runs "):
            self.running[machine] += 1
            self.doubled += self.running[machine] > 1
        elif " came back " in what:
            self.running[machine] -= 1
        elif "joined" not in what:
            print(line, flush=True)

    def receive(self, cell: Sleep, _: Answer, files: dict[str, bytes]) -> str | None:
        """Count a cell."""
        self.came[cell.name] += 1
        return None if files == {cell.name: REPORT} else "it is not what was sent"

    def wrong(self, cells: int) -> int:
        """How many cells did not come home exactly once."""
        return sum(self.came[f"cell-{number}"] != 1 for number in range(cells))


def main(argv: list[str]) -> int:
    """Run the cells, print what they cost; 1 if one is not exactly once at home."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=4, help="that the workers share")
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=10.0, help="that a cell sleeps")
    options = parser.parse_args(argv)
    workers, cells, watch = options.workers, options.cells, Watch()
    with (
        tempfile.TemporaryDirectory() as folder,
        crowd(workers, options.processes, folder) as address,
        existing(read_address(address), None) as client,
    ):
        while len(client.nthreads()) < workers:  # `wait_for_workers` has each described, ten times a second
            time.sleep(1)
        scheduler_s = client.run_on_scheduler(time.process_time)
        home_s, begun = time.process_time(), now()
        home = Home(Sleep.asked, watch.receive, watch.say)
        tasks, host = Tasks(prove, sleep, stop), read_host().model_dump_json()
        dispatch = Dispatch(client, Crew(SOURCE, RULE_SET, {}), tasks, host, home, PATIENCE_S)
        dispatch.work([Sleep(f"cell-{number}", options.seconds) for number in range(cells)])
        whole_s, home_s = now() - begun, time.process_time() - home_s
        scheduler_s = client.run_on_scheduler(time.process_time) - scheduler_s
    print(f"{cells:,} cells of {options.seconds:g} s over {workers:,} workers in {whole_s:.0f} s")
    print(f"CPU a cell: {1000 * home_s / cells:.2f} ms at home, {1000 * scheduler_s / cells:.2f} ms in the scheduler")
    print(f"share of the workers' time in which they slept: {dispatch.runs_s / (whole_s * workers):.1%}")
    print(f"cells not exactly once at home: {watch.wrong(cells)}; machines that had two at once: {watch.doubled}")
    return int(watch.wrong(cells) > 0 or watch.doubled > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
