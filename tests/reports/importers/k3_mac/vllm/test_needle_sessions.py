import pytest

from reports.reading.evidence import Invalid


def session(number, answer="", error=None):
    return {
        "session": number,
        "ok": error is None,
        "needle_found": "E1A7B4" in answer,
        "expected_code": "E1A7B4",
        "answer_excerpt": answer[:80],
        "completion_tokens": 7 if error is None else 0,
        "latency_s": 1.25 if error is None else 0.002,
        "error": error or "",
    }


SESSIONS = [session(0, "E1A7B4"), session(1, "x" * 90), session(2, error="HTTP 404: `/Users/somebody/m` is not here")]
MEASURED = {"recall": 0.3333, "sessions_ok": 2, "aggregate_decode_tps": 11.2, "per_session": SESSIONS}


def file(version=2, status="ok", **more):
    return {
        "kind": "vllm_mlx_niah_parallel",
        "schema_version": version,
        "status": status,
        "config": {
            "model_path": "/Users/somebody/models/gemma-4-26B-A4B-it-mlx-4bit",
            "sessions": 3,
            "haystack_lines": 60,
            "max_new_tokens": 24,
            "engine": "vllm-mlx serve --continuous-batching --use-paged-cache",
        },
        "vllm_mlx_version": "0.3.0",
        **more,
    }


def early(version=2):
    rates = {"n1_decode_tps": 5.6, "parallel_speedup_vs_n1": None, "concurrent_wall_s": 1.3}
    return file(version, **MEASURED, **rates, total_completion_tokens=14, server_log_tail="INFO")


def late():
    """Of two servers; the one that batches did not start."""
    one = {
        "continuous_batching": False,
        "sessions": 1,
        "status": "ok",
        "wall_s": 1.3,
        "endpoint_used": "/v1/completions",
    }
    batching = {"continuous_batching": True, "sessions": 3, "status": "server_failed", "error": "exited early (rc=1)"}
    verdict = {"single_stream_generates": True, "batched_generates": False, "parallel_and_recall_preserving": False}
    return file(simple_mode=one | MEASURED, continuous_batching_mode=batching, verdict=verdict)


def test_a_session_is_a_row_and_a_failed_request_is_no_wrong_answer(evidence, imported):
    assert evidence(early()).source == "k3-mac"
    report = imported(early())
    (arm,) = report.arms
    assert (arm.name, arm.role, arm.engine) == ("sessions", "peer", "vllm-mlx")
    right, cut, failed = arm.measurements
    assert (right.text, right.correct, right.decode_tokens, right.e2e_s) == ("E1A7B4", True, 7, 1.25)
    assert (cut.text, cut.correct) == (None, False)
    assert failed.text is failed.correct is failed.decode_tokens is failed.e2e_s is None
    assert any("recall 0.3333, 2 answered, 11.2 tokens" in note for note in report.imported.notes)
    assert "somebody" not in report.model_dump_json()


def test_two_servers_are_two_arms_and_one_that_did_not_start_has_no_row(imported):
    report = imported(late())
    assert [(arm.name, len(arm.measurements)) for arm in report.arms] == [
        ("simple_mode", 3),
        ("continuous_batching_mode", 0),
    ]
    assert any("status server_failed" in note for note in report.imported.notes)


def test_it_is_legacy_and_as_schema_2_withheld(judged):
    assert judged(early(version=1)).verdict == "legacy"
    assert [judged(document).verdict for document in (early(), late())] == ["withheld", "withheld"]


@pytest.mark.parametrize("status", ["vllm_mlx_not_installed", "server_failed", "error", "init"])
def test_a_run_that_measured_nothing_is_withheld(judged, status):
    assert judged(file(status=status, error="no vllm-mlx") | {"vllm_mlx_version": None}).verdict == "withheld"


def test_a_field_that_cannot_be_is_named(evidence):
    outcome = evidence(file(per_session=[{"ok": 1, "needle_found": True}])).outcome
    assert isinstance(outcome, Invalid)
    assert "per_session.0.ok" in outcome.message
