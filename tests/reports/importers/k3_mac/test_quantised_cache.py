import pytest

from reports.reading.evidence import Invalid, Legacy


@pytest.fixture
def quantised():
    """Two codecs on two samples, one verdict."""

    def codec(recall, bits, error):
        return {
            "recall": recall,
            "samples_correct": 2,
            "bits_per_value_mean": bits,
            "full_attn_rel_mse_mean": error,
            "per_sample_decoded": ["BETA-1", "BETA-2"],
        }

    return {
        "kind": "k3_kv_quant_eval",
        "schema_version": 1,
        "config": {"verifier_path": "/Users/somebody/gemma", "n_samples": 2, "max_new_tokens": 32, "seed": 42},
        "prompt_token_lens": [100, 200],
        "oracle_recall": 1.0,
        "results": {
            "identity": codec(1.0, 16.0, 0.0),
            "affine4": codec(1.0, 4.5, 0.014),
            "kl-d4": codec(1.0, 6.3, 0.001),
        },
        "verdict": {"kl-d4": {"bits_le_affine4": False, "mlx_port_justified": False}},
    }


def test_means_stay_stated_and_the_verdict_is_a_claim(imported, quantised):
    report = imported(quantised)
    result = report.kv_quant
    assert report.kind == "kv_quant"
    assert result.oracle_recall == 1.0
    assert [arm.name for arm in result.arms] == ["identity", "affine4", "kl-d4"]
    arm = result.arms[1]
    assert (arm.stated_recall, arm.stated_bits, arm.stated_relative_error) == (1.0, 4.5, 0.014)
    assert [(row.sample, row.text) for row in arm.samples] == [(0, "BETA-1"), (1, "BETA-2")]
    assert (result.verdicts[0].arm, result.verdicts[0].worthwhile) == ("kl-d4", False)
    claim = report.claims[0]
    assert (claim.name, claim.value, claim.samples) == ("kv_codec_worthwhile/kl-d4", 0.0, 2)
    assert [prompt.token_count for prompt in report.workload.prompts] == [100, 200]


def test_what_a_sample_does_not_record_is_unknown(imported, quantised):
    for arm in imported(quantised).kv_quant.arms:
        for row in arm.samples:
            assert row.correct is row.token_ids_equal_oracle is row.stored_bytes is row.values is None
            assert row.relative_error is row.relative_error_k is row.relative_error_v is None


def test_a_verdict_on_a_codec_that_was_not_run_is_refused(evidence, quantised):
    assert isinstance(evidence(quantised).outcome, Legacy)
    quantised["schema_version"] = 2
    quantised["verdict"]["kl-e8"] = {"mlx_port_justified": True}
    outcome = evidence(quantised).outcome
    assert isinstance(outcome, Invalid)
    assert "verdict.kl-e8" in outcome.message
