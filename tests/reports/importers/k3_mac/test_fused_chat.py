import pytest

from reports.reading.evidence import Invalid, Legacy


@pytest.fixture
def chat():
    """One turn that says f_theta ran."""
    return {
        "kind": "mac_gemma4_kakeya_fused_chat",
        "schema_version": 1,
        "model_path": "/Users/somebody/gemma",
        "drafter_id": "z-lab/draft",
        "sink": 4,
        "window": 64,
        "block_size": 4,
        "exact_layers": [11, 5],
        "f_theta_intended": True,
        "fallbacks_taken": [],
        "turns": [
            {
                "user": "explain",
                "text": "so it is",
                "tokens": 1300,
                "blocks": 447,
                "mean_accept_len": 2.17,
                "f_theta_ran": True,
                "decode_s": 248.499,
                "decode_tps": 5.23,
                "resident_kv_bytes": 241_541_120,
            }
        ],
    }


def test_a_turn_is_a_row_of_one_arm_that_claims_nothing(imported, chat):
    report = imported(chat)
    assert report.kind == "chat"
    assert report.claims == ()
    assert len(report.arms) == 1
    arm = report.arms[0]
    row = arm.measurements[0]
    assert (arm.name, arm.role, arm.engine) == ("fused_chat", "sut", "fused")
    assert (arm.restoration.mode, arm.restoration.exact_layers) == ("f_theta", (5, 11))
    assert (row.text, row.decode_tokens, row.decode_s, row.stated_decode_tok_s) == ("so it is", 1300, 248.499, 5.23)
    assert (row.speculation.blocks, row.speculation.accept_len_counts) == (447, "bonus_and_accepted")
    assert row.kv_bytes_decode == 241_541_120
    assert row.fallbacks == ()
    assert "somebody" not in report.model_dump_json()


@pytest.mark.parametrize(("stated", "known"), [(True, None), (None, None), (False, False)])
def test_that_f_theta_ran_is_only_stated(imported, chat, stated, known):
    chat["turns"][0]["f_theta_ran"] = stated
    row = imported(chat).arms[0].measurements[0]
    assert row.restoration_active is known
    assert row.stated_restoration_active is stated


def test_fallbacks_stand_on_every_row_or_are_unknown(imported, chat):
    chat["fallbacks_taken"] = ["greedy"]
    assert imported(chat).arms[0].measurements[0].fallbacks == ("greedy",)
    del chat["fallbacks_taken"], chat["f_theta_intended"], chat["drafter_id"]
    arm = imported(chat).arms[0]
    assert arm.measurements[0].fallbacks is arm.restoration is arm.drafter is None


def test_it_is_legacy_below_schema_2_and_names_a_wrong_field(evidence, chat):
    assert isinstance(evidence(chat).outcome, Legacy)
    chat["schema_version"] = 2
    chat["turns"][0]["blocks"] = True
    outcome = evidence(chat).outcome
    assert isinstance(outcome, Invalid)
    assert "turns.0.blocks" in outcome.message
