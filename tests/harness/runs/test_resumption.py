"""What must be the same for rows to stand beside each other: all that decides what is measured, and nothing else."""

from datetime import UTC, datetime

import pytest

from harness.runs.resumption import unlike
from reports.records.measurement import Measurement
from reports.records.plan import PresetInfo, WorkloadInfo
from reports.records.provenance import Faithfulness, Host, Package, SourceCode
from tests.harness.runs.skeletons import DIGEST, MODEL, OTHER, provenance, skeleton

OURS = skeleton()
CHECKED = Faithfulness(reference="transformers", tokens=64, argmax_agreement=1.0, largest_logit_gap=0.001)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"host": Host(os="Darwin 24", machine="arm64")}, "provenance.host has changed"),
        ({"source": SourceCode(git_commit="b" * 40, dirty=False)}, "provenance.source has changed"),
        ({"source": SourceCode(git_commit="a" * 40, dirty=True, files=DIGEST)}, "provenance.source has changed"),
        ({"packages": (Package(name="mlx", version="1"),)}, "provenance.packages has changed"),
        ({"device": "gpu"}, "provenance.device has changed"),
        ({"blas_threads": 2}, "provenance.blas_threads has changed"),
        ({"models": (MODEL.replace(weights=OTHER),)}, "the model weights (verifier v) has changed"),
        ({"models": (MODEL.replace(config=OTHER),)}, "the model config (verifier v) has changed"),
        ({"models": (MODEL.replace(tokenizer=OTHER),)}, "the model tokenizer (verifier v) has changed"),
        ({"models": (MODEL.replace(tokenizer=None),)}, "the model tokenizer (verifier v) has changed"),
        ({"models": (MODEL, MODEL.replace(role="drafter"))}, "provenance.models has changed"),
    ],
)
def test_other_code_machines_and_models_are_named(changes: dict[str, object], said: str) -> None:
    other = unlike(OURS, skeleton(provenance=provenance(**changes)))
    assert other is not None
    assert other.startswith(said)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "code"}, "another run"),
        ({"preset": PresetInfo(name="demo", digest=DIGEST)}, "another run"),
        ({"plan": None}, "another run"),
        ({"workload": WorkloadInfo(name="niah", seed=9)}, "workload has changed"),
        ({"arms": OURS.arms[:1]}, "arms has changed"),
        ({"arms": (OURS.arms[0].replace(engine="fused"), OURS.arms[1])}, "arms has changed"),
        ({"arms": (OURS.arms[0].replace(measurements=(Measurement(sample=0, repeat=0),)), OURS.arms[1])}, "arms has"),
    ],
)
def test_another_run_is_named(changes: dict[str, object], said: str) -> None:
    other = unlike(OURS.replace(**changes), OURS)
    assert other is not None
    assert said in other


def test_name_date_arguments_and_a_check_of_the_model_do_not_part_rows() -> None:
    after = provenance(argv=("k3", "eval", "--json"), models=(MODEL.replace(faithfulness=CHECKED),))
    later = OURS.replace(provenance=after, report_id="y", created_at=datetime(2026, 1, 2, tzinfo=UTC))
    assert unlike(OURS, later) is None
    assert unlike(later, OURS) is None
