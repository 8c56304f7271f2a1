import pytest


def trial_at(concurrency=1, **more):
    return {
        "concurrency": concurrency,
        "context_size": 0,
        "prompt_size": 512,
        "response_size": 32,
        "is_context_prefill_phase": False,
        "pp_throughput": {"mean": 100.0, "std": 1.0, "values": [99.0, 101.0]},
        "tg_throughput": {"mean": 20.0, "std": 0.1, "values": [19.9, 20.1]},
        "ttfr": {"mean": 5.0, "std": 0.1, "values": [4.9, 5.1]},
        **more,
    }


def file(*tests):
    return {
        "version": "0.3.1",
        "timestamp": "2026-01-02 03:04:05Z",
        "latency_mode": "api",
        "latency_ms": 1.25,
        "model": "org/model",
        "prefix_caching_enabled": False,
        "max_concurrency": 4,
        "benchmarks": list(tests),
    }


def test_every_test_is_an_arm_and_every_repetition_a_row(evidence, imported):
    document = file(trial_at(), trial_at(4, context_size=1024))
    assert evidence(document).source == "llama-benchy"
    first, second = imported(document).arms
    assert (first.name, second.name) == ("pp512+tg32 c1", "pp512+tg32@d1024 c4")
    assert [(row.prompt_tokens, row.stated_decode_tok_s) for row in first.measurements] == [(512, 19.9), (512, 20.1)]
    assert [(rate.scope, rate.value) for rate in first.stated_rates] == [("prefill", 100.0), ("decode", 20.0)]
    assert second.measurements[0].prompt_tokens == 1536


@pytest.mark.parametrize(
    "document",
    [
        file(trial_at()),
        file(trial_at(), trial_at()),
        file(trial_at(is_context_prefill_phase=True, tg_throughput=None, response_size=0)),
        file(trial_at(pp_throughput=None)),
        file(),
    ],
)
def test_an_honest_file_is_withheld_and_no_more(judged, document):
    assert judged(document).verdict == "withheld"


def test_a_mean_that_its_values_do_not_give_is_found(judged):
    wrong = file(trial_at(tg_throughput={"mean": 60.0, "std": 0.1, "values": [19.9, 20.1]}))
    assert "CLAIM_NOT_REPRODUCIBLE" in judged(wrong).codes
