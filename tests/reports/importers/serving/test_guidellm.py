import pytest


def metric(mean):
    return {"successful": {"mean": mean, "median": mean, "percentiles": {"p95": mean}}, "errored": None}


def benchmark(rate=4.0, **more):
    return {
        "type_": "generative_benchmark",
        "config": {"strategy": {"type_": "constant", "rate": rate}},
        "metrics": {
            "request_totals": {"successful": 2, "errored": 0, "incomplete": 0, "total": 2},
            "output_tokens_per_second": metric(100.0),
            "requests_per_second": metric(9.5),
            "time_to_first_token_ms": metric(50.0),
        },
        **more,
    }


REQUESTS = [
    {"request_id": "a", "prompt_tokens": 8, "output_tokens": 16, "request_latency": 0.5, "output": "one"},
    {"request_id": "b", "prompt_tokens": 8, "output_tokens": 12.5, "request_latency": 0.0, "output": None},
]


def file(*benchmarks):
    return {"metadata": {"version": 1}, "args": {"model": "org/model"}, "benchmarks": list(benchmarks)}


def test_every_load_is_an_arm_with_its_mean_rate(evidence, imported):
    document = file(benchmark(), benchmark(rate=None))
    assert evidence(document).source == "guidellm"
    report = imported(document)
    assert [arm.name for arm in report.arms] == ["constant at 4/s", "constant"]
    assert report.arms[0].stated_rates[0].value == 100.0
    assert [model.id for model in report.provenance.models] == ["org/model"]
    assert any("requests_per_second 9.5" in note for note in report.imported.notes)


@pytest.mark.parametrize(
    "where", [{"requests": {"successful": REQUESTS, "errored": []}}, {"successful_requests": REQUESTS}]
)
def test_requests_of_either_version_are_rows(imported, where):
    rows = imported(file(benchmark(**where))).arms[0].measurements
    assert [(row.prompt_tokens, row.decode_tokens, row.e2e_s, row.text) for row in rows] == [
        (8, 16, 0.5, "one"),
        (8, None, None, None),
    ]


@pytest.mark.parametrize(
    "document",
    [
        file(benchmark()),
        file(benchmark(requests={"successful": REQUESTS})),
        file(benchmark(config={}, scheduler={"strategy": {"type_": "sweep"}})),
        file(benchmark(), benchmark()),
        {"benchmarks": [benchmark()]},
    ],
)
def test_an_honest_file_is_withheld_and_no_more(judged, document):
    assert judged(document).verdict == "withheld"


def test_other_benchmarks_are_not_its(evidence):
    for document in ({"benchmarks": []}, {"benchmarks": [{"metrics": {"x": 1}}]}, {"benchmarks": [{"name": "a"}]}):
        assert evidence(document).source is None
