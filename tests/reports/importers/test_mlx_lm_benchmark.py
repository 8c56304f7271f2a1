import pytest

TEXT = """Running warmup..
Timing with prompt_tokens=1024, generation_tokens=64, batch_size=1.
Trial 1:  prompt_tps=350.000, generation_tps=38.000, peak_memory=3.500
Trial 2:  prompt_tps=360.000, generation_tps=40.000, peak_memory=3.502, total_time=4.500
Averages: prompt_tps=355.000, generation_tps=39.000, peak_memory=3.501
"""


def test_every_trial_is_a_row(evidence, imported):
    assert evidence(TEXT.encode()).source == "mlx-lm-benchmark"
    (arm,) = imported(TEXT.encode()).arms
    assert arm.name == "pp1024+tg64"
    assert [(row.repeat, row.prompt_tokens, row.stated_decode_tok_s, row.peak_bytes) for row in arm.measurements] == [
        (0, 1024, 38.0, 3_500_000_000),
        (1, 1024, 40.0, 3_502_000_000),
    ]
    assert [(rate.scope, rate.value) for rate in arm.stated_rates] == [("prefill", 355.0), ("decode", 39.0)]


def test_several_benchmarks_in_one_text_are_arms(imported):
    text = TEXT + TEXT.replace("batch_size=1", "batch_size=4") + TEXT
    assert [arm.name for arm in imported(text.encode()).arms] == [
        "pp1024+tg64",
        "pp1024+tg64 batch 4",
        "pp1024+tg64#2",
    ]


@pytest.mark.parametrize(
    "text", [TEXT, f"Fetching 9 files: 100%\n{TEXT}", TEXT.split("Averages")[0], TEXT.split("\n", 2)[2], TEXT * 3]
)
def test_an_honest_text_is_withheld_and_no_more(judged, text):
    assert judged(text.encode()).verdict == "withheld"


def test_averages_that_the_trials_do_not_give_are_found(judged):
    assert "CLAIM_NOT_REPRODUCIBLE" in judged(TEXT.replace("=39.000", "=59.000").encode()).codes


def test_a_text_without_a_trial_is_not_its(evidence):
    for text in (TEXT.split("Trial")[0], "Trial and error: a note\n"):
        assert evidence(text.encode()).source is None
