"""Pictures are drawn whatever an arm is called."""

import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gate.judging.judge_evidence import judge_evidence
from gate.render.pictures.of_report import pictures_of
from reports.reading.evidence import Evidence
from tests.gate.honest import Setup, honest_code

REPORT = honest_code(Setup(samples=2, repeats=1, draft_arms=("dflash",)))


@pytest.mark.parametrize("name", ["_hidden", "$x^2$ <b>", "a" * 200])
def test_every_arm_is_named_in_the_picture(name: str) -> None:
    report = REPORT.replace(arms=tuple(arm.replace(name=f"{name}"[:190] + str(n)) for n, arm in enumerate(REPORT.arms)))
    judged = judge_evidence(Evidence(Path("x.json"), report, None, "k3", "code", 2))
    picture = next(one for one in pictures_of(report, judged) if one.name == "speed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        root = ElementTree.fromstring(picture.svg(0))
    texts = [(element.text or "").strip() for element in root.iter() if element.tag.endswith("text")]
    assert sum(text.startswith(name[:20]) for text in texts) == len(report.arms)
