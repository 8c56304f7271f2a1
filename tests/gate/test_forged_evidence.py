"""Committed evidence with one thing in it that no run makes, its claims derived again as a forger would."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate.judging.judge import conclude, judge
from reports.records.measurement import RoundTrip
from reports.records.plan import prompts_digest
from reports.records.provenance import AsRun, Package
from reports.report import Report, load_report
from tests.gate.edits import edit_arm, edit_rows, scale, set_verifier

EVIDENCE = Path(__file__).parents[2] / "reports" / "evidence"
UNCOMPARED = AsRun(dtype="bfloat16", tokens=0, argmax_agreement=1.0)
CODE, DEMO, RECORDED = "code-ftheta-tiny", "demo", "demo-parity-tiny-recorded"
TINY, NGRAM = "code-dflash-tiny", "decode_speedup/fused_ngram"


def without_context(told: int | None) -> Callable[[Report], Report]:
    """The drafter's context is left out of the bytes."""

    def edit(row: Any) -> Any:
        own = row.drafter_bytes_prefill
        held = {"kv_bytes_prefill": row.kv_bytes_prefill - own, "kv_bytes_decode": row.kv_bytes_decode - own}
        return row.replace(drafter_bytes_prefill=told, **held)

    return lambda report: edit_rows(report, "fused_f_theta", edit)


def drafter(**changes: Any) -> Callable[[Report], Report]:
    return lambda report: edit_arm(
        report, "fused", lambda arm: arm.replace(drafter=arm.drafter.replace(**changes) if arm.drafter else None)
    )


def carrying(report: Report) -> Report:
    def carry(arm: Any) -> Any:
        rows = tuple(row.replace(decode_loop="fused_carry_block") for row in arm.measurements)
        changes = {"engine": "fused-carry", "decode_loop": "fused_carry_block", "measurements": rows}
        return arm.replace(**changes)

    return edit_arm(report, "fused_f_theta", carry)


def live(report: Report) -> Report:
    assert report.parity is not None
    return report.replace(parity=report.parity.replace(recording=None))


def live_elsewhere(report: Report) -> Report:
    """As another preset's, on a machine without PyTorch."""
    assert report.provenance is not None
    assert report.preset is not None
    packages = (Package(name="mlx", version="0.32.4"), Package(name="mlx-lm", version="0.32.2"))
    provenance = report.provenance.replace(packages=packages)
    return live(report).replace(provenance=provenance, preset=report.preset.replace(name="parity-tiny-dflash"))


def without_block(number: int) -> Callable[[Report], Report]:
    def edit(report: Report) -> Report:
        assert report.parity is not None
        left = (one for one in report.parity.blocks if one.block != number)
        blocks = tuple(one.replace(block=one.block - (one.block > number)) for one in left)
        return report.replace(parity=report.parity.replace(blocks=blocks))

    return edit


def part(**changes: Any) -> Callable[[Report], Report]:
    def edit(report: Report) -> Report:
        assert report.preset is not None
        return report.replace(preset=report.preset.replace(**changes))

    return edit


def in_bfloat16(run: AsRun | None) -> Callable[[Report], Report]:
    def edit(report: Report) -> Report:
        models = report.provenance.models if report.provenance is not None else ()
        (checked,) = (model.faithfulness for model in models if model.role == "verifier")
        assert checked is not None
        return set_verifier(report, dtype="bfloat16", faithfulness=checked.replace(as_run=run))

    return edit


def oracle_holding_more(report: Report) -> Report:
    """Every arm on the native cache is said to have held twice the bytes: the model has layers that slide."""

    def edit(row: Any) -> Any:
        held = {"kv_bytes_prefill": 2 * row.kv_bytes_prefill, "kv_bytes_decode": 2 * row.kv_bytes_decode}
        return row.replace(**held, peak_bytes=2 * row.peak_bytes)

    for name in ("oracle", "oracle_again", "needle_free"):
        report = edit_rows(report, name, edit)
    return report


def table_of_less(report: Report) -> Report:
    """The arm's sliding layers are said to hold a quarter of their window, in its rows and its table."""
    assert report.memory is not None
    gone: dict[str, int] = {}

    def edit(table: Any) -> Any:
        if table.arm != "f_theta":
            return table
        layers = tuple(
            one.replace(resident_positions=16, resident_bytes=16 * one.bytes_per_token)
            if one.kind == "sliding_attention"
            else one
            for one in table.layers
        )
        gone["bytes"] = sum(one.resident_bytes for one in table.layers) - sum(one.resident_bytes for one in layers)
        less = {name: getattr(table, name) - gone["bytes"] for name in ("total_bytes", "measured_bytes")}
        return table.replace(layers=layers, **less)

    report = report.replace(memory=report.memory.replace(arms=tuple(map(edit, report.memory.arms))))
    names = ("kv_bytes_prefill", "kv_bytes_decode")
    return edit_rows(
        report, "f_theta", lambda row: row.replace(**{name: getattr(row, name) - gone["bytes"] for name in names})
    )


def narrow_features(report: Report) -> Report:
    """The features that f_theta keeps are said to be half as wide, in its rows and its table."""
    assert report.memory is not None
    (arm,) = (arm for arm in report.arms if arm.name == "f_theta")
    assert arm.restoration is not None
    assert arm.restoration.feature_bytes is not None
    width = arm.restoration.feature_bytes // 2

    def edit(table: Any) -> Any:
        if table.arm != "f_theta":
            return table
        less = width * table.sequence_length
        sizes = {name: getattr(table, name) - less for name in ("feature_bytes", "total_bytes", "measured_bytes")}
        return table.replace(**sizes)

    def narrower(row: Any) -> Any:
        names, less = ("kv_bytes_prefill", "kv_bytes_decode"), width * row.prompt_tokens
        return row.replace(**{name: getattr(row, name) - less for name in names})

    report = report.replace(memory=report.memory.replace(arms=tuple(map(edit, report.memory.arms))))
    report = edit_arm(
        report, "f_theta", lambda arm: arm.replace(restoration=arm.restoration.replace(feature_bytes=width))
    )
    return edit_rows(report, "f_theta", narrower)


def of_modules(form: str | None) -> Callable[[Report], Report]:
    """Prompts of six templates are said to be of twelve modules, which no weights saw."""

    def edit(report: Report) -> Report:
        assert report.workload is not None
        prompts = tuple(one.replace(group=f"stdlib/module{one.sample}") for one in report.workload.prompts)
        workload = report.workload.replace(form=form, prompts=prompts, digest=prompts_digest(prompts))
        return report.replace(workload=workload)

    return edit


def of_old(report: Report) -> Report:
    """No prompt knows its group, as in a report from before there were any."""
    assert report.workload is not None
    prompts = tuple(one.replace(group=None) for one in report.workload.prompts)
    workload = report.workload.replace(form=None, prompts=prompts, digest=prompts_digest(prompts))
    return report.replace(workload=workload)


def trained_elsewhere(report: Report) -> Report:
    """The drafter's recipe is said to hold other templates."""
    assert report.provenance is not None
    models = tuple(
        one.replace(recipe=one.recipe.replace(groups=("prose/letters",))) if one.recipe is not None else one
        for one in report.provenance.models
    )
    return report.replace(provenance=report.provenance.replace(models=models))


def read_once(report: Report) -> Report:
    """Of the readings of the machine those of one process are left."""
    return report.replace(machine=tuple(one for one in report.machine or () if one.process == 0))


def slow_oracle(report: Report) -> Report:
    """The oracle and its repeat are said to have taken so much longer that no other arm had time."""
    for name in ("oracle", "oracle_again"):
        report = scale(report, name, decode=60.0)
    return report


def warm_once(report: Report) -> Report:
    """The warm-ups of all processes but the first are gone."""
    for name in [arm.name for arm in report.arms]:
        report = edit_arm(
            report, name, lambda arm: arm.replace(warm_ups=tuple(row for row in arm.warm_ups or () if not row.process))
        )
    return report


def copied_warm_ups(report: Report) -> Report:
    """Timed rows stand for warm-ups."""
    first = {arm.name: [row for row in arm.measurements if row.sample == 0] for arm in report.arms}
    for name, rows in first.items():
        warm = tuple(row.replace(order=None) for row in rows)
        report = edit_arm(report, name, lambda arm, warm=warm: arm.replace(warm_ups=warm))
    return report


def set_by_nobody(report: Report) -> Report:
    """The arguments set a value that the overrides do not name."""
    assert report.provenance is not None
    argv = (*(report.provenance.argv or ()), "--set", "arms.fused_ngram.drafter.block_size=4")
    return report.replace(provenance=report.provenance.replace(argv=argv))


def other_role(report: Report) -> Report:
    """An override that no command takes makes an arm under test a control."""
    report = part(overrides=("arms.fused_combined.role=control",))(report)
    return edit_arm(report, "fused_combined", lambda arm: arm.replace(role="control"))


def smoke(**changes: Any) -> Callable[[Report], Report]:
    def edit(report: Report) -> Report:
        assert report.runtime_smoke is not None
        return report.replace(runtime_smoke=report.runtime_smoke.replace(**changes))

    return edit


def never_truncated(report: Report) -> Report:
    """The frame that was missing is said not to have been due: the history was short."""
    assert report.runtime_smoke is not None
    steps = tuple(
        step.replace(history_length=60, frames=tuple(one for one in step.frames if one.frame != "truncated"))
        if step.step == "generate_truncated"
        else step
        for step in report.runtime_smoke.steps
    )
    return smoke(steps=steps)(report)


def unheard(report: Report) -> Report:
    """A row of an arm that nobody serves has a round trip."""
    trip = RoundTrip(prefill_s=0.0, decode_s=0.0)
    return edit_rows(report, "fused_ngram", lambda row: row.replace(round_trip=trip))


@pytest.mark.parametrize(
    ("name", "forge", "code", "claim"),
    [
        (CODE, without_context(None), "MEMORY_NOT_MEASURED", "kv_saving/fused_f_theta"),
        (CODE, without_context(0), "MEMORY_NOT_MEASURED", "kv_saving/fused_f_theta"),
        (CODE, carrying, "ENGINE_CONTRADICTED", "kv_saving/fused_f_theta"),
        (RECORDED, live, "PARITY_FAILED", "drafter_parity/mlx"),
        (RECORDED, live_elsewhere, "PARITY_FAILED", "drafter_parity/mlx"),
        (RECORDED, without_block(0), "PARITY_FAILED", "drafter_parity/mlx"),
        (RECORDED, without_block(3), "PARITY_FAILED", "drafter_parity/mlx"),
        (RECORDED, part(overrides=("samples=5",)), "PLAN_CONTRADICTED", "drafter_parity/mlx"),
        (RECORDED, part(part_of="code-dflash-tiny"), "PLAN_CONTRADICTED", "drafter_parity/mlx"),
        (DEMO, in_bfloat16(None), "MODEL_UNFAITHFUL", "oracle_recall/oracle"),
        (DEMO, in_bfloat16(UNCOMPARED), "MODEL_UNFAITHFUL", "kv_saving/f_theta"),
        (DEMO, drafter(bits=4), "ENGINE_CONTRADICTED", "token_identity/fused"),
        (DEMO, oracle_holding_more, "BYTES_IMPOSSIBLE", "kv_saving/f_theta"),
        (DEMO, table_of_less, "MEMORY_TABLE", "kv_saving/f_theta"),
        (DEMO, narrow_features, "BYTES_IMPOSSIBLE", "kv_saving/f_theta"),
        (TINY, of_modules("synthetic"), "PLAN_CONTRADICTED", NGRAM),
        (TINY, of_modules("stdlib"), "PRESET_DEPARTED", NGRAM),
        (TINY, of_modules(None), "PLAN_CONTRADICTED", NGRAM),
        (TINY, of_old, "PRESET_DEPARTED", NGRAM),
        (TINY, of_old, "PLAN_CONTRADICTED", NGRAM),
        (TINY, trained_elsewhere, "MODEL_MISNAMED", NGRAM),
        (TINY, read_once, "MACHINE_CONTRADICTED", NGRAM),
        (TINY, slow_oracle, "MACHINE_CONTRADICTED", NGRAM),
        (TINY, warm_once, "PLAN_CONTRADICTED", NGRAM),
        (TINY, copied_warm_ups, "COPIED_ROWS", NGRAM),
        (TINY, set_by_nobody, "PLAN_CONTRADICTED", NGRAM),
        (TINY, other_role, "PRESET_DEPARTED", NGRAM),
        (TINY, unheard, "LABEL_CONTRADICTED", NGRAM),
        ("smoke-tiny-incremental", never_truncated, "SMOKE_FAILED", "smoke_steps/incremental"),
        ("smoke-tiny-incremental", smoke(restoration=None), "ENGINE_CONTRADICTED", "smoke_steps/incremental"),
        ("smoke-tiny-fused", smoke(drafter=None), "ENGINE_CONTRADICTED", "smoke_steps/fused"),
        ("smoke-tiny-ar", smoke(engine="5x-faster"), "NAME_UNFIT", "smoke_steps/ar"),
        ("smoke-tiny-ar", smoke(stated_passed=10), "IMPORT_FIELD", "smoke_steps/ar"),
    ],
)
def test_what_was_forged_is_not_said(name: str, forge: Callable[[Report], Report], code: str, claim: str) -> None:
    report = load_report(EVIDENCE / f"{name}.json")
    sound, forged = conclude(report), conclude(forge(report))
    assert {one.name: one.status for one in sound.claims}[claim] == "admitted"
    found = {one.name: one for one in forged.claims}
    withheld = code in found[claim].withheld_by if claim in found else False
    assert withheld or code in {violation.code for violation in judge(forged).violations}
    assert claim not in found or found[claim].status == "withheld"
