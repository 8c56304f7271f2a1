"""Committed evidence with one thing in it that no run makes, its claims derived again as a forger would."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate.judging.judge import conclude, judge
from reports.records.provenance import AsRun, Package
from reports.report import Report, load_report
from tests.gate.edits import edit_arm, edit_rows, set_verifier

EVIDENCE = Path(__file__).parents[2] / "reports" / "evidence"
UNCOMPARED = AsRun(dtype="bfloat16", tokens=0, argmax_agreement=1.0)
CODE, DEMO, RECORDED = "code-ftheta-tiny", "demo", "demo-parity-tiny-recorded"


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
