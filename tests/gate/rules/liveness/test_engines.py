"""What an engine of K3 can be, and what its drafter can."""

import pytest

from reports.records.measurement import Restoration
from reports.records.provenance import Runtime
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.edits import edit_arm
from tests.gate.honest import Setup, measured_code

CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12))
ARM = "fused_dflash"


def carried(mode: str) -> Report:
    """The drafting arm as the carrying engine's, with a restoration."""
    kept = Restoration.model_validate({"mode": mode} if mode == "none" else {"mode": mode, "sink": 4, "window": 64})

    def carry(arm):
        rows = tuple(row.replace(decode_loop="fused_carry_block") for row in arm.measurements)
        changes = {"engine": "fused-carry", "decode_loop": "fused_carry_block", "restoration": kept}
        return arm.replace(measurements=rows, **changes)

    return edit_arm(CODE, ARM, carry)


def test_an_engine_of_mlx_alone_did_not_run_on_pytorch():
    runtime = Runtime(backend="torch", device="cpu", dtype="float32", attention="sdpa", threads=2)
    torch = CODE.replace(provenance=CODE.provenance.replace(runtime=runtime))
    assert not ask("ENGINE_CONTRADICTED", torch)
    peer = edit_arm(torch, ARM, lambda arm: arm.replace(engine="mlx-lm-speculative"))
    assert "mlx-lm-speculative" in found("ENGINE_CONTRADICTED", peer)


@pytest.mark.parametrize("mode", ["identity", "f_theta", "ablate"])
def test_the_carrying_engine_restores_nothing(mode):
    assert not ask("ENGINE_CONTRADICTED", carried("none"))
    assert found("ENGINE_CONTRADICTED", carried(mode)) == [mode]


@pytest.mark.parametrize(
    ("name", "bits", "fires"),
    [
        ("model", None, False),
        ("model", 4, False),
        ("shuffled model", 8, False),
        ("model", 7, True),
        ("model", 0, True),
        ("dflash", 4, True),
        ("combined", 8, True),
        ("dflash", None, False),
    ],
)
def test_only_a_small_model_is_rounded_and_to_bits_there_are(name, bits, fires):
    report = edit_arm(CODE, ARM, lambda arm: arm.replace(drafter=arm.drafter.replace(name=name, bits=bits)))
    assert [finding.field for finding in ask("ENGINE_CONTRADICTED", report)] == ["drafter.bits"] * fires


@pytest.mark.parametrize(
    ("name", "graph", "fires"),
    [
        ("dflash", "two_phase", False),
        ("shuffled dflash", "two_phase", False),
        ("dflash", "single", True),
        ("combined", "two_phase", True),
        ("ngram", "two_phase", True),
    ],
)
def test_only_a_drafter_that_looks_at_its_drafts_is_sure_of_some(name, graph, fires):
    def sure(arm):
        return arm.replace(drafter=arm.drafter.replace(name=name, graph=graph, sure=0.3))

    assert [finding.field for finding in ask("ENGINE_CONTRADICTED", edit_arm(CODE, ARM, sure))] == [
        "drafter.sure"
    ] * fires
