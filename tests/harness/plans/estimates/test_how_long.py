"""What a plan says of its time, held to what the committed reports took."""

from pathlib import Path

import pytest

from harness.plans.estimates.how_long import ITS_MACHINE, SECONDS_A_RUN, TWO_CORES, about_minutes, minutes_in_words
from harness.plans.kinds import plan_of
from harness.plans.preset_file import load_preset
from reports.reading.reader import read_evidence

EVIDENCE = Path(__file__).resolve().parents[4] / "reports" / "evidence"


@pytest.mark.parametrize("kind", ["code", "niah"])
@pytest.mark.parametrize("model", ["k3-tiny", "smollm2-135m", "gemma3-270m"])
def test_a_run_takes_about_as_long_as_those_of_the_evidence(model: str, kind: str) -> None:
    seconds = []
    for path in EVIDENCE.glob("*.json"):
        report = read_evidence(path).report
        if report is None or report.kind != kind or report.provenance is None:
            continue
        if report.provenance.models and report.provenance.models[0].id == model:
            seconds += [row.e2e_s for arm in report.arms for row in arm.measurements if row.e2e_s is not None]
    assert len(seconds) >= 40
    assert 0.6 < SECONDS_A_RUN[model, kind] / (sum(seconds) / len(seconds)) < 1.67


def test_the_time_follows_the_runs_and_what_a_preset_says_itself_stands() -> None:
    whole, few = (about_minutes(plan_of(load_preset("code-ngram-smollm2", given))) for given in ([], ["samples=2"]))
    assert whole is not None
    assert few is not None
    assert (whole[1], few[1]) == (TWO_CORES, TWO_CORES)
    assert 5 < whole[0] < 20
    assert few[0] < whole[0] / 1.8
    assert about_minutes(plan_of(load_preset("mac-code-trim"))) == (30, ITS_MACHINE)
    assert about_minutes(plan_of(load_preset("kvquant-smollm2"))) is None


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("kvquant-tiny", 1, 3), ("parity-smollm2-recorded", 0.3, 1), ("parity-smollm2-dflash", 0.3, 1)],
)
def test_parity_and_codecs_take_what_a_run_of_them_took(name: str, low: float, high: float) -> None:
    found = about_minutes(plan_of(load_preset(name)))
    assert found is not None
    assert low < found[0] < high


@pytest.mark.parametrize(
    ("minutes", "words"), [(0.4, "under a minute"), (1.2, "about 1 minute"), (16.1, "about 16 minutes")]
)
def test_minutes_in_words(minutes: float, words: str) -> None:
    assert minutes_in_words(minutes) == words
