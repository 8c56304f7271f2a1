import pytest


def run(**more):
    return {
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": float("inf"),
        "max_concurrency": None,
        "sharegpt_output_len": None,
        "random_input_len": 8,
        "random_output_len": 4,
        "random_range_ratio": 0.0,
        "duration": 2.0,
        "completed": 2,
        "total_input_tokens": 16,
        "total_output_tokens": 8,
        "total_output_tokens_retokenized": 8,
        "request_throughput": 1.0,
        "input_throughput": 8.0,
        "output_throughput": 4.0,
        "mean_ttft_ms": 20.5,
        "mean_tpot_ms": 3.5,
        "concurrency": 1.5,
        "accept_length": 2.25,
        **more,
    }


def test_a_run_at_an_infinite_rate_is_read_and_its_figures_kept_as_stated(evidence, imported):
    assert evidence([run(), run()], lines=True).source == "sglang-serving"
    report = imported(run())
    assert report.arms[0].name == "sglang at inf/s"
    assert report.arms[0].stated_rates[0].value == 4.0
    assert report.provenance.models == ()
    assert any("accept_length 2.25" in note for note in report.imported.notes)
    assert any("Infinity is not a JSON number" in note for note in report.imported.notes)
    assert "stated: dataset random" in report.imported.notes


def test_details_are_rows(imported):
    details = {
        "input_lens": [8, 8],
        "output_lens": [4, 4],
        "ttfts": [0.5, 0.25],
        "itls": [[0.125] * 2, [0.25]],
        "generated_texts": ["a", "b"],
        "errors": ["", ""],
    }
    rows = imported(run(**details)).arms[0].measurements
    assert [(row.sample, row.e2e_s, row.decode_tokens, row.text) for row in rows] == [
        (0, 0.75, 4, "a"),
        (1, 0.5, 4, "b"),
    ]


@pytest.mark.parametrize("document", [run(), run(request_rate=4.0, max_concurrency=2), run(accept_length=None)])
def test_an_honest_file_is_withheld_and_no_more(judged, document):
    assert judged(document).verdict == "withheld"
    assert judged([document, document], lines=True).verdict == "withheld"
