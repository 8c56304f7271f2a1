"""The picture of a block's stages shows what the wire took of those that a server ran."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from gate.judging.judge_evidence import judge_evidence
from gate.render.pictures.of_report import pictures_of
from reports.reading.evidence import Evidence
from reports.records.measurement import RoundTrip
from reports.report import Report
from tests.gate.honest import Setup, honest_code

HERE = honest_code(Setup(samples=2, repeats=1, draft_arms=("ngram", "dflash")))
TRIP = RoundTrip(prefill_s=0.1, decode_s=0.2)


def served(report: Report) -> Report:
    """The last arm's rows as they would be if a server had made them."""
    *others, last = report.arms
    rows = tuple(row.replace(round_trip=TRIP) for row in last.measurements)
    return report.replace(arms=(*others, last.replace(measurements=rows)))


@pytest.mark.parametrize(("report", "told"), [(HERE, False), (served(HERE), True)])
def test_the_round_trip_is_a_stage_of_blocks_that_a_server_ran(report: Report, told: bool) -> None:
    judged = judge_evidence(Evidence(Path("x.json"), report, None, "k3", "code", 2))
    picture = next(one for one in pictures_of(report, judged) if one.name == "stages")
    texts = [(element.text or "").strip() for element in ElementTree.fromstring(picture.svg(0)).iter()]
    assert ("round trip" in texts) is told
    assert texts.count("verify") == 1
