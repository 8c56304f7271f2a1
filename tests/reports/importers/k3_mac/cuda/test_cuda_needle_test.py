import pytest

from reports.reading.evidence import Invalid


def result(**more):
    return {
        "name": "x",
        "samples_total": 2,
        "samples_correct": 1,
        "recall": 0.5,
        "mean_latency_s": 1.5,
        "per_sample_decoded": ["ALPHA-1234", "no"],
        "per_sample_correct": [True, False],
        "per_sample_decode_tokens": [5, 2],
        **more,
    }


def file(version=2, cross=None, **config):
    return {
        "schema_version": version,
        "kind": "k3_integrated_niah_acceptance",
        "config": {
            "verifier_id": "google/gemma-4-26B-A4B-it",
            "drafter_id": "z-lab/gemma-4-26B-A4B-it-DFlash",
            "f_theta_dir": "results/research/f_theta_v5",
            "n_samples": 2,
            "sink_size": 4,
            "window_size": 64,
            "max_new_tokens": 32,
            "seed": 7,
            "skip_oracle": False,
            "identity_restore": False,
            "prompt_token_lens": [280, 300],
            **config,
        },
        "results": {"k3_cross_model": cross or result(), "oracle": result(recall=0.5)},
        "memory": {},
        "gate": {"recall_cross_model": 0.5, "recall_oracle": 0.5},
    }


def test_samples_are_rows_of_both_arms(evidence, imported):
    assert evidence(file()).source == "k3-mac"
    report = imported(file())
    assert [(arm.name, arm.role) for arm in report.arms] == [("k3_cross_model", "sut"), ("oracle", "oracle")]
    first, second = report.arms[0].measurements
    assert (first.prompt_tokens, first.text, first.correct, first.decode_tokens) == (280, "ALPHA-1234", True, 5)
    assert second.restoration_active is second.prefill_s is second.e2e_s is second.token_ids is None
    assert report.arms[0].restoration.mode == "f_theta"
    assert imported(file(identity_restore=True)).arms[0].restoration.mode == "identity"
    assert {claim.name: claim.value for claim in report.claims} == {
        "restoration_recall/k3_cross_model": 0.5,
        "oracle_recall/oracle": 0.5,
    }


def test_it_is_withheld_and_legacy_before_schema_2(judged):
    assert judged(file()).verdict == "withheld"
    assert "CONTROL_MISSING" in judged(file()).codes
    assert judged(file(version=1)).verdict == "legacy"


def test_arrays_that_do_not_line_up_are_named(evidence):
    outcome = evidence(file(cross=result(per_sample_correct=[True]))).outcome
    assert isinstance(outcome, Invalid)
    assert "results.k3_cross_model: arrays of 1, 2 samples" in outcome.message


@pytest.mark.parametrize("recall", [1.0, 0.0])
def test_a_recall_that_the_rows_do_not_give_is_found(judged, recall):
    assert "CLAIM_NOT_REPRODUCIBLE" in judged(file(cross=result(recall=recall))).codes
