"""The smoke over each engine, judged; and over servers that do one thing wrong."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gate.claims.propose import propose
from gate.claims.recompute import recompute
from gate.figures.conduct.smoke import smoke_passed
from gate.rulebook.report_view import ReportView
from harness.engines.base import Block
from harness.engines.remote.client import SessionClient
from harness.engines.remote.records import Done, Frame, RefusedError, Sampling, Truncated
from harness.remote.server import serving
from harness.remote.service import SessionService
from harness.remote.smoke import run_smoke
from reports.records.conduct.runtime_smoke import RuntimeSmoke
from reports.records.constants import SMOKE_STEPS
from reports.report import Report
from tests.gate.asking import ask
from tests.harness.remote.served import ENGINES, running


def smoked(service: SessionService) -> RuntimeSmoke:
    with serving(service, "127.0.0.1:0") as address:
        client = SessionClient(address)
        smoke = run_smoke(client, client.describe(), started=True)
        client.close()
    return smoke


@pytest.mark.parametrize("case", ENGINES)
def test_ten_of_ten_steps_over_every_engine(case: str) -> None:
    with running(case) as service:
        smoke = smoked(service)
    report = Report(kind="runtime_smoke", report_id="smoke", runtime_smoke=smoke)
    assert [step.step for step in smoke.steps] == list(SMOKE_STEPS)
    (claim,) = propose(report)
    figures = recompute(ReportView(report), claim)
    assert figures is not None
    assert figures.value == 1.0
    for code in ("SMOKE_STEPS", "SMOKE_STATUS", "SMOKE_FAILED", "SMOKE_DETERMINISM", "KIND_MISMATCH"):
        assert not ask(code, report), code


class Wrong(SessionService):
    """A service with one fault."""

    fault: str

    def generate(self, name: str, max_tokens: int, sampling: Sampling, stop_tokens: Any = ()) -> Any:
        match self.fault:
            case "samples":
                return super().generate(name, max_tokens, Sampling(), stop_tokens)
            case "runs past stops":
                return super().generate(name, max_tokens, sampling)
            case "says nothing of what it dropped":
                return _without(super().generate(name, max_tokens, sampling, stop_tokens), Truncated)
            case "ends without a word":
                return _without(super().generate(name, max_tokens, sampling, stop_tokens), Done)
            case "forgets how a history came":
                frames = super().generate(name, max_tokens, sampling, stop_tokens)
                return _shifted(frames) if len(stop_tokens) else frames
        return super().generate(name, max_tokens, sampling, stop_tokens)

    def append(self, name: str, tokens: Any) -> Any:
        if self.fault == "refuses to read":
            raise RefusedError("RESOURCE_EXHAUSTED", "no")
        return super().append(name, tokens)


class _Frames:
    """Frames that are not the engine's, to be cancelled as its are."""

    def __init__(self, frames: Iterator[Frame], cancel: Callable[[], None]) -> None:
        self._frames, self.cancel = frames, cancel

    def __iter__(self) -> Iterator[Frame]:
        return self._frames


def _without(call: Any, kind: type) -> _Frames:
    return _Frames((frame for frame in call if not isinstance(frame, kind)), call.cancel)


def _shifted(call: Any) -> _Frames:
    blocks = (
        Block(tuple(token + 1 for token in frame.tokens)) if isinstance(frame, Block) else frame for frame in call
    )
    return _Frames(blocks, call.cancel)


@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        ("samples", {"SMOKE_FAILED"}),
        ("runs past stops", {"SMOKE_FAILED"}),
        ("says nothing of what it dropped", {"SMOKE_FAILED"}),
        ("ends without a word", {"SMOKE_FAILED", "SMOKE_STATUS"}),
        ("forgets how a history came", {"SMOKE_FAILED", "SMOKE_DETERMINISM"}),
        ("refuses to read", {"SMOKE_FAILED", "SMOKE_DETERMINISM"}),
    ],
)
def test_a_server_that_does_one_thing_wrong_is_found(
    fault: str, codes: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.harness.remote.served.SessionService", Wrong)
    with running("incremental") as service:
        service.fault = fault  # type: ignore[attr-defined]
        smoke = smoked(service)
    report = Report(kind="runtime_smoke", report_id="smoke", runtime_smoke=smoke)
    broken = {
        code for code in ("SMOKE_STEPS", "SMOKE_STATUS", "SMOKE_FAILED", "SMOKE_DETERMINISM") if ask(code, report)
    }
    assert broken == codes
    passed = smoke_passed(smoke)
    assert passed is not None
    assert passed.correct < 10
