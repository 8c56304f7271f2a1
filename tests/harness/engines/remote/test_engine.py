"""Arms that another process runs: rows token-equal to those in process, judged alike, with the round trip told."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gate.judging.judge import conclude
from gate.judging.judge_evidence import judge_evidence
from gate.render.tables.show import show
from harness.base.errors import EngineError, UsageError
from harness.engines.base import Block, DecodeLimit, LoadedVerifier
from harness.engines.registry import build
from harness.engines.remote.engine import RemoteEngine
from harness.engines.spec import EngineSettings, RemoteSpec
from harness.plans.kinds import plan_of
from harness.plans.plan import RunPlan
from harness.plans.preset_file import preset_of_flags
from harness.remote.server import Access, serving
from harness.runs.timed_run import run_preset
from reports.reading.evidence import Evidence
from reports.report import Report
from tests.harness.remote.served import ENGINES, models, running, served
from tests.harness.tiny_models import tiny_llama

BOUNDS = {"restoration": "ablate", "sink": 4, "window": 64}
SPECS = {
    "incremental": {"engine": "incremental"} | BOUNDS,
    "fused": {"engine": "fused", "drafter": {"kind": "ngram", "block_size": 4}},
}


@contextmanager
def remote(case: str) -> Iterator[RemoteEngine]:
    with running(case) as service, serving(service, "127.0.0.1:0") as address:
        settings = EngineSettings(remote=RemoteSpec(address=address))
        engine = build("remote", models().verifier, settings)
        assert isinstance(engine, RemoteEngine)
        yield engine


@pytest.mark.parametrize("case", ENGINES)
def test_blocks_and_counts_are_those_of_the_engine_in_process(case: str) -> None:
    own = served(case).engine
    prompt, limit = [3 + n % 40 for n in range(90)], DecodeLimit(20, {})
    with remote(case) as engine:
        assert (engine.kind, engine.restoration, engine.drafter) == (own.kind, own.restoration, own.drafter)
        for _ in range(2):
            theirs, ours = engine.prefill(prompt), own.prefill(prompt)
            assert theirs.first_token == ours.first_token
            there, here = list(engine.decode(theirs, limit)), list(own.decode(ours, limit))
            assert [(b.tokens, b.drafted, b.accepted) for b in there] == [
                (b.tokens, b.drafted, b.accepted) for b in here
            ]
            told, counted = engine.stats(theirs), own.stats(ours)
            for name in ("restored_positions", "evicted_positions", "kv_bytes", "drafter_bytes", "fallbacks"):
                assert getattr(told, name) == getattr(counted, name), name
            assert told.round_trip is not None
            assert told.round_trip.prefill_s > 0
            assert told.round_trip.decode_s > 0


def committed(block: Block) -> tuple[object, ...]:
    return block.tokens, block.drafted, block.accepted


def test_a_stop_token_ends_it_as_in_process() -> None:
    own, prompt = served("fused").engine, [3 + n % 40 for n in range(90)]
    session = own.prefill(prompt)
    stop = next(token for block in own.decode(session, DecodeLimit(8, {})) for token in block.tokens)
    with remote("fused") as engine:
        theirs, ours = engine.prefill(prompt), own.prefill(prompt)
        limit = DecodeLimit(8, {stop: "eos"})
        assert [b.tokens for b in engine.decode(theirs, limit)] == [b.tokens for b in own.decode(ours, limit)]


@pytest.mark.parametrize(
    ("case", "verifier", "access", "told"),
    [
        ("ar", tiny_llama, None, "serves weights"),
        (None, lambda: models().verifier, None, "without generator"),
        ("ar", lambda: models().verifier, Access(token="0123456789abcdef"), "UNAUTHENTICATED"),
    ],
)
def test_a_server_that_cannot_run_the_arm_is_refused(
    case: str | None, verifier: Callable[[], LoadedVerifier], access: Access | None, told: str
) -> None:
    with (
        running(case) as service,
        serving(service, "127.0.0.1:0", access) as address,
        pytest.raises(EngineError, match=told),
    ):
        build("remote", verifier(), EngineSettings(remote=RemoteSpec(address=address)))


def test_a_server_that_is_not_there_is_said() -> None:
    with pytest.raises(EngineError, match="UNAVAILABLE"):
        build("remote", models().verifier, EngineSettings(remote=RemoteSpec(address="127.0.0.1:1")))


def plan(kind: str, arms: list[dict[str, object]]) -> RunPlan:
    document = {"name": "remote", "title": "Remote", "kind": kind, "model": "k3-tiny", "samples": 2, "processes": 1}
    made = plan_of(preset_of_flags(document | {"max_new_tokens": 24, "ignore_turn_stop": True, "arms": arms}))
    assert isinstance(made, RunPlan)
    return made


@pytest.mark.parametrize(
    ("arm", "told"),
    [
        ({"engine": "remote"}, "remote.address"),
        ({"engine": "remote", "remote": {"address": "h:1"}, "restoration": "ablate"}, "the server decides"),
        ({"engine": "ar", "remote": {"address": "h:1"}}, "engine remote alone"),
    ],
)
def test_an_arm_that_no_server_can_run_is_refused_before_anything_is_loaded(arm: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        plan("code", [{"name": "there", "role": "sut", "label": "there"} | arm])


@pytest.mark.parametrize("case", ["incremental", "fused"])
def test_rows_of_a_remote_arm_are_those_in_process_and_judged_alike(case: str, tmp_path: Path) -> None:
    role, label = {"incremental": "control", "fused": "sut"}[case], f"k3 {case}"
    here = {"name": "here", "role": role, "label": label} | SPECS[case]
    with running(case) as service, serving(service, "127.0.0.1:0") as address:
        there = {"name": "there", "role": role, "label": label, "engine": "remote", "remote": {"address": address}}
        report = run_preset(plan("code", [here, there]), tmp_path / "report.json", silent)
    arms = {arm.name: arm for arm in report.arms}
    ours, theirs = arms["here"], arms["there"]
    assert (theirs.engine, theirs.decode_loop, theirs.drafter) == (ours.engine, ours.decode_loop, ours.drafter)
    assert theirs.served_by is not None
    assert ours.served_by is None
    for row, other in zip(ours.measurements, theirs.measurements, strict=True):
        assert row.token_ids == other.token_ids
        assert (row.kv_bytes_decode, row.evicted_positions) == (other.kv_bytes_decode, other.evicted_positions)
        assert other.round_trip is not None
        assert row.round_trip is None
    assert not arms_blamed(report, "there") - arms_blamed(report, "here")
    shown = io.StringIO()
    show(report, judge_evidence(Evidence(tmp_path / "report.json", report, None, "k3", report.kind, 2)), shown)
    text = " ".join(shown.getvalue().split())
    assert re.search(r"round trip, there: \S+ ms of prefill, \S+ ms of each decoded token \(medians\)", text)
    figure = r"[0-9.e+-]+x( \([0-9.e+-]+ to [0-9,.e+-]+\))?"
    told = rf"over the wire, there: {figure} of here's decode rate, {figure} without the round trip; A/A {figure}; "
    assert re.search(told + r"\S+ ms (more|less) a token \(median\)", text)


def arms_blamed(report: Report, arm: str) -> set[str]:
    """What violations say of an arm, without its name and figures."""
    gate = conclude(report).gate
    assert gate is not None
    return {f"{one.code} {one.field}" for one in gate.violations if one.arm == arm}


def silent(done: int, total: int, what: str) -> None:
    pass
