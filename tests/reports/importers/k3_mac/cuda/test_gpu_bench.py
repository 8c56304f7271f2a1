import pytest

from reports.reading.evidence import Invalid, Legacy


@pytest.fixture
def gpu():
    """Means of two arms, rows of one, a skipped section."""
    row = {
        "tokens": [5] * 64,
        "decode_s": 5.633,
        "prefill_s": 0.281,
        "decode_tokens_per_s": 11.361,
        "time_breakdown_s": {"drafter_cached": 4.424, "incremental_verify": 1.183, "ctx_kv_extend": 0.026},
        "blocks": 12,
        "mean_accept_len": 4.42,
        "decode_tokens": 64,
    }
    return {
        "kind": "k3_specdecode_gpu_bench",
        "config": {"verifier_id": "google/gemma", "drafter_id": "z-lab/draft", "f_theta_dir": "a/f", "block_size": 15},
        "env": {"gpu": "NVIDIA H200", "torch": "2.11.0"},
        "prompt_tokens": {"min": 1238, "max": 1238},
        "ar_incremental": {"decode_tokens_per_s_mean": 21.155, "recall": 1.0},
        "restored_pertoken": {"decode_tokens_per_s_mean": 21.902, "recall": 1.0},
        "restored_specdecode": {"skipped": True, "decode_tokens_per_s_mean": None, "recall": 0.0, "per_sample": [{}]},
        "restored_specdecode_fused": {
            "decode_tokens_per_s_mean": 16.559,
            "mean_accept_len": 4.02,
            "recall": 1.0,
            "per_sample": [row],
            "speedup_over_ar_x": 0.78,
        },
    }


def test_sections_become_arms_and_a_skipped_one_does_not(imported, gpu):
    report = imported(gpu)
    assert report.kind == "niah"
    assert [(arm.name, arm.role, len(arm.measurements)) for arm in report.arms] == [
        ("ar_incremental", "oracle", 0),
        ("restored_pertoken", "peer", 0),
        ("restored_specdecode_fused", "sut", 1),
    ]
    assert report.arms[0].stated_rates[0].value == 21.155
    assert report.arms[0].restoration is None
    assert report.arms[2].restoration.mode == "f_theta"
    assert report.provenance.device == "NVIDIA H200"
    assert any("skipped" in note for note in report.imported.notes)


def test_rows_count_accepted_drafts_only(imported, gpu):
    row = imported(gpu).arms[2].measurements[0]
    speculation = row.speculation
    assert (speculation.blocks, speculation.mean_accept_len, speculation.accept_len_counts) == (12, 4.42, "accepted")
    assert (speculation.draft_s, speculation.verify_s, speculation.extend_s) == (4.424, 1.183, 0.026)
    assert (row.prompt_tokens, row.decode_tokens, len(row.token_ids)) == (1238, 64, 64)
    assert row.restoration_active is row.text is row.correct is row.stop_reason is None


def test_recalls_and_the_ratio_of_means_are_claims(imported, gpu):
    assert {claim.name: claim.value for claim in imported(gpu).claims} == {
        "oracle_recall/ar_incremental": 1.0,
        "restoration_recall/restored_pertoken": 1.0,
        "restoration_recall/restored_specdecode_fused": 1.0,
        "decode_speedup/restored_specdecode_fused": 0.78,
    }


def test_prompts_of_different_lengths_have_unknown_lengths(imported, gpu):
    gpu["prompt_tokens"]["max"] = 1300
    assert imported(gpu).arms[2].measurements[0].prompt_tokens is None


def test_without_a_schema_version_it_is_legacy(evidence, gpu):
    assert isinstance(evidence(gpu).outcome, Legacy)
    gpu |= {"schema_version": 2, "prompt_tokens": {"min": "1"}}
    outcome = evidence(gpu).outcome
    assert isinstance(outcome, Invalid)
    assert "prompt_tokens" in outcome.message
