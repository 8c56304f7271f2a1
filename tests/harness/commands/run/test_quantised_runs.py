"""A quantised model from `k3 models verify` to a judged report: its headlines do not lack a reference."""

from pathlib import Path

import pytest

from harness.cli import run
from reports.report import load_report
from tests.harness.folders_4bit import quantise, write_published

pytestmark = pytest.mark.torch


def blocked(report: Path) -> set[str]:
    """Codes of the violations, and of what withholds a claim."""
    loaded = load_report(report)
    assert loaded.gate is not None
    held = {code for claim in loaded.claims for code in claim.withheld_by}
    return held | {violation.code for violation in loaded.gate.violations}


def test_a_verified_4_bit_model_is_not_called_unfaithful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K3_CACHE", str(tmp_path / "cache"))
    folder = quantise(write_published(tmp_path / "published", "llama"), tmp_path / "packed", dtype="float32")
    niah = ["niah", "--model", str(folder), "--samples", "1", "--lines", "12", "--max-new-tokens", "4", "--out"]
    assert run([*niah, str(tmp_path / "before.json")]) in (0, 2)
    assert "MODEL_UNFAITHFUL" in blocked(tmp_path / "before.json")
    assert run(["models", "verify", str(folder)]) == 0
    assert run([*niah, str(tmp_path / "after.json")]) in (0, 2)
    assert "MODEL_UNFAITHFUL" not in blocked(tmp_path / "after.json")
