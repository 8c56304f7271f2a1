import json

import pytest


def run(**more):
    return {
        "date": "20250304-101010",
        "endpoint_type": "vllm",
        "backend": "vllm",
        "label": None,
        "model_id": "meta-llama/Llama-3.1-8B",
        "tokenizer_id": "meta-llama/Llama-3.1-8B",
        "num_prompts": 3,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": 8,
        "duration": 2.0,
        "completed": 2,
        "failed": 1,
        "total_input_tokens": 30,
        "total_output_tokens": 20,
        "request_throughput": 1.0,
        "request_goodput": None,
        "output_throughput": 10.0,
        "total_token_throughput": 25.0,
        "mean_ttft_ms": 11.5,
        **more,
    }


DETAILS = {
    "input_lens": [10, 12, 8],
    "output_lens": [10, 0, 10],
    "ttfts": [0.5, 0.0, 0.25],
    "itls": [[0.125] * 4, [], [0.25] * 3],
    "generated_texts": ["one", "", "three"],
    "errors": ["", "timed out", ""],
}


def test_a_run_is_an_arm_with_its_rate_as_stated(evidence, imported):
    assert evidence(run()).source == "vllm-serving"
    report = imported(run())
    (arm,) = report.arms
    assert (arm.name, arm.role, arm.measurements) == ("vllm at inf/s at most 8", "peer", ())
    assert [(rate.value, rate.scope, rate.statistic) for rate in arm.stated_rates] == [(10.0, "e2e", "total")]
    assert [model.id for model in report.provenance.models] == ["meta-llama/Llama-3.1-8B"]
    assert report.claims == ()
    assert any("output_throughput 10, request_throughput 1, duration 2" in note for note in report.imported.notes)


def test_details_are_rows_of_requests_and_a_failed_one_has_no_figures(imported):
    (arm,) = imported(run(**DETAILS)).arms
    assert [(row.prompt_tokens, row.decode_tokens, row.e2e_s, row.text) for row in arm.measurements] == [
        (10, 10, 1.0, "one"),
        (12, None, None, ""),
        (8, 10, 1.0, "three"),
    ]
    assert arm.stated_rates == ()
    recorded = imported(run(**DETAILS, latencies=[1.5, 0.1, 2.5])).arms[0].measurements
    assert [row.e2e_s for row in recorded] == [1.5, None, 2.5]


def test_runs_that_were_appended_are_arms(imported):
    lines = [run(request_rate=1.0), run(request_rate=4.0), run(request_rate=4.0)]
    names = [arm.name for arm in imported(lines, lines=True).arms]
    assert names == ["vllm at 1.0/s at most 8", "vllm at 4.0/s at most 8", "vllm at 4.0/s at most 8#2"]


@pytest.mark.parametrize(
    "document",
    [
        run(),
        run(**DETAILS),
        run(**DETAILS, latencies=[1.5, 0.1, 2.5], spec_decode_acceptance_rate=61.0, spec_decode_acceptance_length=2.4),
        run(**(DETAILS | {"itls": None})),
        run(**(DETAILS | {"output_lens": [1]})),
        run(output_throughput=float("nan"), mean_ttft_ms=float("inf")),
        run(completed=0, failed=3, output_throughput=0.0),
    ],
)
def test_an_honest_file_is_withheld_and_no_more(judged, document):
    assert judged(document).verdict == "withheld"
    assert judged([document, document], lines=True).verdict == "withheld"


def test_a_few_of_its_keys_are_any_tools(evidence):
    for document in (
        {"date": "20250304", "backend": "vllm", "output_throughput": 410.6},
        {"duration": 1, "backend": "x"},
    ):
        assert evidence(json.dumps(document).encode()).source is None
