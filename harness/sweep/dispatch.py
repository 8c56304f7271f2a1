"""Who gets which cell, and what becomes of it: one cell a machine at a time, on the real scheduler's workers.

Home hands out every cell by itself, to one worker by its address. Dask alone would not do: it assigns all tasks that
ask for a resource at once, so that workers that join later get none (dask/distributed 6467) and every waiting task
counts as failed when its worker dies (5234); and it does not know which workers share a machine. A task of a worker
that is gone waits for that address for ever (7346), so home looks who is there and cancels it.
"""

import queue
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from harness.base.clock import now
from harness.base.errors import CannotRunError
from harness.sweep.crew import Crew, Machine, Work
from harness.sweep.messages import Answer, Proof
from harness.sweep.tasks import RUN, Tasks
from reports.untrusted.one_line import one_line

W = TypeVar("W", bound=Work)
OTHER_VERSION = "it runs another version of K3"

LOOK_S = 1.0
"""Seconds between two looks at who is there; more where a look takes long."""
AGAIN_S = 15.0
"""Seconds after which a machine that was busy is asked again."""
GATHER_S = 120.0
"""Seconds for a finished report to come over the wire."""
MOST_LOSSES = 3
"""Workers that a cell may lose before it is given up: it may be the cell that ends them."""


@dataclass(frozen=True)
class Home(Generic[W]):
    """What the dispatcher asks of the one who started it. `receive` keeps what a cell made and says what is wrong with
    it, if something is; `say` tells a line."""

    ask: Callable[[W], str]
    receive: Callable[[W, Answer, dict[str, bytes]], str | None]
    say: Callable[[str], None]


@dataclass(frozen=True)
class Attempt(Generic[W]):
    """A cell on its way on a worker, or the proof of one (`cell` is None)."""

    address: str
    future: Any
    cell: W | None = None
    machine: Machine | None = None


@dataclass
class Dispatch(Generic[W]):
    """The cells of one sweep, until each is made or given up (`failed`, with the reason)."""

    client: Any
    crew: Crew
    tasks: Tasks
    question: str
    home: Home[W]
    patience_s: float
    todo: deque[W] = field(default_factory=deque)
    failed: dict[str, str] = field(default_factory=dict)
    made: int = 0
    runs_s: float = 0.0
    _attempts: dict[str, Attempt[W]] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _losses: dict[str, int] = field(default_factory=dict)
    _ended: "queue.SimpleQueue[str]" = field(default_factory=queue.SimpleQueue)
    _count: int = 0
    _look_at: float = 0.0
    _moved: float = 0.0

    def work(self, cells: Iterable[W]) -> None:
        """Bring every cell to its end.

        Raises:
            CannotRunError: every machine that joined refuses every cell that is left, nothing moves for `patience_s`
                seconds, or the scheduler is gone. What came back is kept.
        """
        self.todo.extend(cells)
        self._moved = now()
        try:
            while self.todo or self._running():
                self._look()
                self._take()
                hopeless = not self._attempts and self.crew.refuses(self.todo)
                if hopeless or (now() - self._moved > self.patience_s and not self._running()):
                    raise CannotRunError(f"cells left: {len(self.todo)}, and no machine takes them: {self._why()}")
        except BaseException:
            self._stop()
            raise

    def _running(self) -> bool:
        return any(attempt.cell is not None for attempt in self._attempts.values())

    def _look(self) -> None:
        """See who came and who went, and give work to who is idle."""
        begun = now()
        if begun < self._look_at:
            return
        try:
            # Addresses alone: a thousand workers take the scheduler seconds to describe, and it does nothing meanwhile.
            there = self.client.sync(self.client.scheduler.ncores).keys()
            new = there - self._known
            # Not `scheduler_info`: what it returns is a cache that a poll beside it empties of workers now and then.
            described = self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"] if new else {}
        except (OSError, TimeoutError) as error:
            raise CannotRunError("the scheduler is gone; what came back is kept: the same command goes on") from error
        for address in self._known - there:
            self._lose(address)
        for address in new & described.keys():
            self._known.add(address)
            if described[address].get("resources", {}).get(RUN, 0) >= 1:
                self._submit(self.tasks.prove, self.question, Attempt(address, None))
            else:
                self.home.say(f"worker {address}: left alone: it has no resource {RUN}=1")
        for machine in self.crew.machines.values():
            self._hand_out(machine)
        self._look_at = now() + max(LOOK_S, 10 * (now() - begun))

    def _hand_out(self, machine: Machine) -> None:
        """Give a machine the first cell that it can run, if it is free."""
        if machine.busy or not machine.workers or machine.free_at > now():
            return
        passed: list[W] = []
        while self.todo:
            cell = self.todo.popleft()
            if machine.why_not(cell) is None:
                machine.busy = True
                self.home.say(f"{machine.name}: runs {cell.name}")
                self._submit(self.tasks.run, self.home.ask(cell), Attempt(machine.workers[0], None, cell, machine))
                break
            passed.append(cell)
        self.todo.extendleft(reversed(passed))

    def _submit(self, function: Callable[[str], Any], argument: str, attempt: Attempt[W]) -> None:
        self._count += 1
        what = attempt.cell.name if attempt.cell is not None else "proof"
        key = f"k3-{what}-{self.client.id}-{self._count}"
        future = self.client.submit(
            function, argument, key=key, workers=[attempt.address], pure=False, retries=0, resources={RUN: 1}
        )
        self._attempts[key] = Attempt(attempt.address, future, attempt.cell, attempt.machine)
        future.add_done_callback(lambda done: self._ended.put(done.key))

    def _take(self) -> None:
        """Wait a moment for what ends, and deal with all that has."""
        try:
            key = self._ended.get(timeout=LOOK_S / 2)
            while True:
                attempt = self._attempts.pop(key, None)
                if attempt is not None:
                    self._conclude(attempt)
                key = self._ended.get_nowait()
        except queue.Empty:
            return

    def _conclude(self, attempt: Attempt[W]) -> None:
        """A task came to its end: with a result, with an exception of ours, or because Dask gave it up."""
        try:
            result = attempt.future.result(timeout=GATHER_S)
        except Exception as error:
            if _lost(attempt.future, error):
                self._forget(attempt.address)  # whoever is still there proves itself anew
                self._again(attempt, "its worker was lost")
            else:
                self._fail(attempt, one_line(f"{type(error).__name__}: {error}", 500))
            return
        if attempt.cell is None:
            self._admit(attempt, result)
        else:
            self._answered(attempt, attempt.cell, result)

    def _answered(self, attempt: Attempt[W], cell: W, result: Any) -> None:
        try:
            told, files = result
            answer = Answer.model_validate_json(told)
            if not all(isinstance(name, str) and isinstance(data, bytes) for name, data in files.items()):
                raise TypeError("its files are no bytes")
        except (ValueError, TypeError, AttributeError) as error:
            self._fail(attempt, f"{OTHER_VERSION} ({one_line(str(error), 200)})")
        else:
            self._settle(attempt, cell, answer, files)

    def _admit(self, attempt: Attempt[W], result: Any) -> None:
        address = attempt.address
        try:
            proof = Proof.model_validate_json(result)
        except (ValueError, TypeError) as error:
            self._fail(attempt, f"{OTHER_VERSION} ({one_line(str(error), 200)})")
            return
        kept_out = self.crew.admit(address, proof)
        if kept_out is not None:
            self.home.say(f"worker {address}: left alone: {kept_out}")
            return
        self._moved = now()
        machine = self.crew.machines[proof.machine]
        if machine.workers == [address]:
            self.home.say(f"{machine.name}: joined, by worker {address}")
        self._hand_out(machine)

    def _settle(self, attempt: Attempt[W], cell: W, answer: Answer, files: dict[str, bytes]) -> None:
        machine = attempt.machine
        assert machine is not None
        machine.busy = False
        machine.said = answer.reason
        self.runs_s += answer.seconds
        if answer.outcome == "busy":
            machine.free_at = now() + AGAIN_S
            self.todo.appendleft(cell)
            self.home.say(f"{machine.name}: {answer.reason}; asked again in {AGAIN_S:g} s")
            return
        self._moved = now()
        if answer.outcome == "unfit":
            machine.refused.add(cell.name)
            self.todo.append(cell)
            self.home.say(f"{machine.name}: does not run {cell.name}: {answer.reason}")
        elif answer.outcome == "stopped":
            self._again(attempt, "its run was ended")
        else:
            wrong = answer.reason if answer.outcome == "failed" else self.home.receive(cell, answer, files)
            if wrong is not None:
                self._give_up(cell, f"{machine.name}: {wrong}")
            else:
                self.made += 1
                self.home.say(f"{machine.name}: {cell.name} came back ({answer.seconds:.0f} s; {len(self.todo)} wait)")
        self._hand_out(machine)

    def _lose(self, address: str) -> None:
        """A worker is gone: what it had goes to another one, and nothing that still comes of it counts."""
        self._forget(address)
        for key, attempt in list(self._attempts.items()):
            if attempt.address == address:
                del self._attempts[key]
                attempt.future.cancel(force=True)
                self._again(attempt, "its worker was lost")

    def _forget(self, address: str) -> None:
        self._known.discard(address)
        self.crew.leave(address)

    def _again(self, attempt: Attempt[W], why: str) -> None:
        if attempt.machine is not None:
            attempt.machine.busy = False
        cell = attempt.cell
        if cell is None:
            return
        self._moved = now()
        self._losses[cell.name] = self._losses.get(cell.name, 0) + 1
        if self._losses[cell.name] >= MOST_LOSSES:
            self._give_up(cell, f"{why}, for the third time")
        else:
            self.todo.appendleft(cell)
            self.home.say(f"{cell.name}: {why}; it runs again")

    def _fail(self, attempt: Attempt[W], why: str) -> None:
        """A worker that raises is one that K3 does not understand: it gets nothing more."""
        self.crew.leave(attempt.address)
        self.home.say(f"worker {attempt.address}: left alone: {why}")
        if attempt.machine is not None and attempt.cell is not None:
            attempt.machine.busy = False
            attempt.machine.refused.add(attempt.cell.name)
            self.todo.append(attempt.cell)

    def _give_up(self, cell: W, why: str) -> None:
        self.failed[cell.name] = why
        self.home.say(f"{cell.name}: FAILED: {why}")

    def _why(self) -> str:
        """Why the first waiting cell waits."""
        if not self.crew.machines:
            return f"there is no worker with the resource {RUN}=1 that proved itself"
        cell = self.todo[0]
        told = [
            f"{one.name}: {one.why_not(cell) or one.said or 'it has no worker left'}"
            for one in self.crew.machines.values()
        ]
        return one_line("; ".join(told[:5]), 500)

    def _stop(self) -> None:
        """Let go of everything, and end what runs."""
        running = [attempt.address for attempt in self._attempts.values() if attempt.cell is not None]
        try:
            for attempt in self._attempts.values():
                attempt.future.cancel(force=True)
            if running:
                self.client.run(self.tasks.stop, workers=running, on_error="ignore")
        except (OSError, TimeoutError, RuntimeError):
            return  # nobody is left to be told


def _lost(future: Any, error: Exception) -> bool:
    """A worker or a result is gone: Dask says so, or takes the task back, or cannot bring what it made."""
    from distributed.scheduler import KilledWorker

    return isinstance(error, KilledWorker) or future.status != "error"
