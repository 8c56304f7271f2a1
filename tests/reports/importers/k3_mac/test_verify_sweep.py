import pytest

from reports.reading.evidence import Invalid


def length(tokens, *seconds, **more):
    row = {
        "L": tokens,
        "verify_s_median": sorted(seconds)[len(seconds) // 2],
        "verify_s_samples": list(seconds),
        "expert_union_ratio": 0.725,
        "measured_headroom": 1.066,
        "expert_union_headroom": 1.379,
    }
    return row | more


def file(*rows, version=2):
    return {
        "schema_version": version,
        "kind": "verify_l_sweep_mac",
        "config": {
            "verifier_path": "/Users/somebody/models/gemma-4-26B-A4B-it-mlx-4bit",
            "context_len": 4096,
            "reps": 3,
            "l_list": [1, 16],
            "n_layers": 30,
            "top_k_experts": 8,
            "num_experts": 128,
            "vocab": 262144,
        },
        "rows": list(rows) or [length(1, 0.069, 0.045, 0.048), length(16, 0.197, 0.193, 0.192)],
        "note": "measured_headroom = L*verify(1)/verify(L)",
    }


def test_every_length_is_an_arm_and_every_repetition_a_row(evidence, imported):
    assert evidence(file()).source == "k3-mac"
    report = imported(file())
    assert [arm.name for arm in report.arms] == ["verify 1", "verify 16"]
    assert [row.speculation.verify_s for row in report.arms[1].measurements] == [0.197, 0.193, 0.192]
    row = report.arms[0].measurements[0]
    assert row.decode_tokens is row.decode_s is row.token_ids is row.speculation.blocks is None
    assert report.workload.prompts[0].token_count == 4096
    assert report.provenance.models[0].id == "gemma-4-26B-A4B-it-mlx-4bit"
    assert any("headroom 1.066" in note for note in report.imported.notes)
    assert report.claims == ()


def test_a_model_without_experts_and_a_length_twice_are_read(imported):
    dense = {"expert_union_ratio": None, "expert_union_headroom": None, "measured_headroom": None}
    report = imported(file(length(4, 0.1, **dense), length(4, 0.2, **dense)))
    assert [arm.name for arm in report.arms] == ["verify 4", "verify 4#2"]


def test_it_is_legacy_and_as_schema_2_withheld(judged):
    assert judged(file(version=1)).verdict == "legacy"
    assert judged(file()).verdict == "withheld"


@pytest.mark.parametrize(
    ("rows", "named"), [([length(0, 0.1)], "rows.0.L"), ([length(1, 0.1, verify_s_samples=[True])], "verify_s_samples")]
)
def test_a_field_that_cannot_be_is_named(evidence, rows, named):
    outcome = evidence(file(*rows)).outcome
    assert isinstance(outcome, Invalid)
    assert named in outcome.message
