"""The executor: takes the oldest request, runs it, and answers; whatever kills it, its next start goes on."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from harness.base.clock import now
from harness.base.errors import CannotRunError
from harness.base.processes.guarded import Ended
from harness.base.provenance import read_host
from harness.bridge.exchange import Exchange, bring, list_requests, push, read_exchanges, read_request
from harness.bridge.execution.agreement import check_agreed
from harness.bridge.execution.answering import Answerer, answer, refusal
from harness.bridge.execution.job import Desk, Job
from harness.bridge.execution.policy import Policy, forbidden, untrusted
from harness.bridge.execution.running import run_command
from harness.bridge.execution.work_folder import write_files
from harness.bridge.git import RemoteError, Repository
from harness.bridge.manifest import Request, RequestError
from harness.bridge.names import RequestName, new_nonce
from harness.bridge.results import CLAIM, Claim, record_bytes
from harness.bridge.trees import commit_files
from reports.untrusted.number_of import number_of

T = TypeVar("T")
MOST_ATTEMPTS = 3
"""Starts of one request's command. A request that ends its machine every time is answered after these."""
KEPT = "refs/k3-bridge/kept/"
"""Where the executor's clone keeps an answer whose branch was deleted or rewritten while it ran."""


@dataclass
class Executor:
    """One clone's executor; its caller holds the desk's lock. `patience`: seconds to wait for a remote that is gone."""

    repository: Repository
    remote: str
    policy: Policy
    who: Answerer
    desk: Desk
    say: Callable[[str], None]
    patience: float = 600.0
    _left: set[str] = field(default_factory=set)
    _answers: set[str] = field(default_factory=set)

    def work(self) -> RequestName | None:
        """Answer one request, an interrupted one first, else the oldest that waits; None if there is none.

        Raises:
            CannotRunError: the remote did not answer for too long; what was measured is kept for the next start.
        """
        while True:
            job = self.desk.begun() or self._take()
            if job is None:
                return None
            answered = self._answer(job)
            self.desk.done()
            if answered:
                return job.name

    def _take(self) -> Job | None:
        """Write down the next request as the job, before anything is pushed."""
        for exchange in self._patiently(lambda: read_exchanges(self.repository, self.remote)):
            if exchange.state != "waiting" or exchange.head in self._answers:
                continue
            try:
                request = read_request(self.repository, exchange.name, exchange.request)
                check_agreed(self.repository, request)
            except RequestError as error:
                return self.desk.keep(_job(exchange, reason=str(error)))
            if not self._left_to_others(exchange, request):
                return self.desk.keep(_job(exchange, request=request, claim=self._claim(exchange)))
        return None

    def _left_to_others(self, exchange: Exchange, request: Request) -> bool:
        reason = forbidden(self.policy, request) or self._patiently(
            lambda: untrusted(self.policy, self.repository, self.remote, request, exchange.request)
        )
        if reason is not None and exchange.head not in self._left:
            self._left.add(exchange.head)
            self.say(f"{exchange.name.branch}: left alone: {reason}")
        return reason is not None

    def _claim(self, exchange: Exchange) -> str:
        claim = Claim(token=new_nonce(), host=read_host(), k3_version=self.who.k3_version)
        return commit_files(self.repository, exchange.request, {CLAIM: record_bytes(claim)}, "Take the request")

    def _answer(self, job: Job) -> bool:
        """Bring the job to its end; False if another executor took it, or its branch is gone."""
        if job.result is None:
            if job.claim is not None and not self._push(job.name, job.commit, job.claim):
                self.say(f"{job.name.branch}: was taken by another executor, or withdrawn")
                return False
            job = self._with_result(job)
        assert job.result is not None
        self._answers.add(job.result)
        if self._push(job.name, job.stands_on, job.result):
            self.say(f"{job.name.branch}: answered")
            return True
        kept = KEPT + job.name.short
        self.repository.git("update-ref", kept, job.result)
        self.say(f"{job.name.branch}: was deleted or rewritten while it ran; the answer is kept as {kept}")
        return False

    def _with_result(self, job: Job) -> Job:
        if job.request is None:
            made = refusal(self.repository, job, self.who)
            return self.desk.keep(job.replace(result=made))
        try:
            job, ended = self._run(job, job.request)
        except RequestError as error:
            job = self.desk.keep(job.replace(reason=str(error)))
            return self.desk.keep(job.replace(result=refusal(self.repository, job, self.who)))
        return self.desk.keep(job.replace(result=answer(self.repository, self.desk, job, ended, self.who)))

    def _run(self, job: Job, request: Request) -> tuple[Job, Ended | None]:
        """Run the command until it ends by itself or at its limit, over kills and restarts; every start is counted."""
        task = check_agreed(self.repository, request)
        ended = None
        while ended is None and job.attempts < MOST_ATTEMPTS and not task.finished(self.desk.out):
            self.desk.work.mkdir(exist_ok=True)
            if not self.desk.tree.exists():
                write_files(self.repository, request.base, self.desk.tree)
            job = self.desk.keep(job.replace(attempts=job.attempts + 1))
            self.say(
                f"{job.name.branch}: runs, for at most {number_of(request.minutes, 'minute')}; log: {self.desk.log}"
            )
            ended = run_command(self.desk, request, task, self.who.environment)
        return job, ended

    def _push(self, name: RequestName, old: str, new: str) -> bool:
        """Move the branch from `old` to `new`; False if it is elsewhere by now. Pushed twice is pushed once."""
        return self._patiently(lambda: self._pushed(name, old, new))

    def _pushed(self, name: RequestName, old: str, new: str) -> bool:
        try:
            push(self.repository, self.remote, name, old, new)
        except RemoteError:
            head = list_requests(self.repository, self.remote).get(name)
            if head == old:
                raise
            if head is not None:
                bring(self.repository, self.remote, {name: head})
            return head == new
        return True

    def _patiently(self, action: Callable[[], T]) -> T:
        """What `action` returns, tried again while the remote does not answer."""
        start, pause = now(), 0.5
        while True:
            try:
                return action()
            except RemoteError as error:
                if now() - start + pause > self.patience:
                    raise CannotRunError(
                        f"{self.remote}: {error}: nothing is lost, and the next `k3 bridge run` goes on"
                    ) from error
                self.say(f"{self.remote}: {error}; tried again in {pause:g} s")
            threading.Event().wait(pause)
            pause = min(2 * pause, 60.0)


def _job(exchange: Exchange, **told: object) -> Job:
    name = {"preset": exchange.name.preset, "nonce": exchange.name.nonce, "commit": exchange.request}
    return Job.model_validate(name | told)
