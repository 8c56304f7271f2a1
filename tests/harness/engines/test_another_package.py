"""A new engine is one file and one entry: presets take it, runs measure it, and the gate judges it by its entry."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.judging.judge import Judgement, conclude, judge
from harness.base.errors import UsageError
from harness.base.progress import silent
from harness.engines import registry
from harness.plans.kinds import plan_of, run_plan
from harness.plans.preset_file import preset_of_flags
from reports import engines
from reports.report import Report, load_report, write_report
from tests.gate.edits import set_rows
from tests.harness.engines.another_package.greedy_loop import GreedyLoopEngine
from tests.harness.fresh_processes import processes_of_their_own

ROOT = Path(__file__).resolve().parents[3]
ENGINE = GreedyLoopEngine.kind
BUILT_BY = f"{GreedyLoopEngine.__module__}:GreedyLoopEngine"
PRESET = f"""
name = "greedy-loop"
title = "An engine of another package"
kind = "niah"
model = "k3-tiny"
samples = 2
processes = 1
max_new_tokens = 12
workload = {{ lines = 12 }}

[[arms]]
name = "greedy"
role = "sut"
engine = "{ENGINE.name}"
label = "native_ar_baseline"
"""


@pytest.fixture(scope="module")
def registered() -> Iterator[None]:
    registry.register(ENGINE, BUILT_BY)  # the one entry
    yield
    del engines._known[ENGINE.name], engines._elsewhere[ENGINE.name]


@pytest.fixture(scope="module")
def measured(registered: None, tmp_path_factory: pytest.TempPathFactory) -> Report:
    out = tmp_path_factory.mktemp("run") / "report.json"
    with processes_of_their_own():
        report = run_plan(plan_of(preset_of_flags(tomllib.loads(PRESET))), out, silent)
    write_report(conclude(report), out)
    return load_report(out)


def codes(judgement: Judgement) -> set[str]:
    return {violation.code for violation in judgement.violations}


def test_a_preset_names_it_and_a_run_measures_it(measured: Report) -> None:
    arms = {arm.name: arm for arm in measured.arms}
    greedy, oracle = arms["greedy"], arms["oracle"]
    assert (greedy.engine, greedy.decode_loop) == (ENGINE.name, ENGINE.decode_loop)
    assert [row.token_ids for row in greedy.measurements] == [row.token_ids for row in oracle.measurements]
    assert {row.decode_loop for row in greedy.measurements} == {ENGINE.decode_loop}
    assert all((row.decode_tokens or 0) > 0 and (row.kv_bytes_decode or 0) > 0 for row in greedy.measurements)


def test_the_gate_holds_its_rows_to_its_entry(measured: Report) -> None:
    assert not codes(judge(measured)) & {"KIND_MISMATCH", "ENGINE_CONTRADICTED", "LABEL_CONTRADICTED"}
    another = set_rows(measured, "greedy", decode_loop="generate_step")
    assert "ENGINE_CONTRADICTED" in codes(judge(another))


def test_its_claims_are_judged_like_those_of_any_engine(measured: Report) -> None:
    assert "native_baseline_recall/greedy" in {claim.name for claim in judge(measured).claims}


def test_nothing_else_of_k3_knows_it() -> None:
    words = (ENGINE.name.encode(), ENGINE.decode_loop.encode(), b"another_package")
    folders = ("harness", "gate", "reports", "workloads", "presets")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.*") if file.suffix in (".py", ".toml")]
    assert len(files) > 100
    assert not [file for file in files if any(word in file.read_bytes() for word in words)]


def test_where_it_is_not_registered_its_report_is_judged_to_the_end_and_admits_nothing(
    measured: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(engines._known, ENGINE.name)
    judgement = judge(measured)
    assert judgement.verdict == "invalid"
    assert "KIND_MISMATCH" in codes(judgement)
    assert not judgement.headlines
    with pytest.raises(UsageError, match="engine 'greedy-loop' is unknown"):
        preset_of_flags(tomllib.loads(PRESET))


@pytest.mark.usefixtures("registered")
def test_it_is_registered_once() -> None:
    with pytest.raises(ValueError, match="greedy-loop"):
        registry.register(ENGINE, BUILT_BY)
