"""What may be said, in sentences: words and figures of admitted claims, and of nothing else."""

import re
from pathlib import Path

import pytest

from gate.judging.batch import Judge
from gate.judging.judge_evidence import judge_evidence
from gate.judging.judged_file import JudgedFile
from gate.render.sentences import listed, sentences
from reports.reading.evidence import Evidence
from reports.report import Report
from tests.gate.honest import Setup, honest_code, honest_niah
from tests.gate.render import samples

EVIDENCE = Path("reports/evidence")


def judged(report: Report) -> JudgedFile:
    return judge_evidence(Evidence(Path("x.json"), report, None, "k3", report.kind, 2))


def test_a_faster_arm_is_quoted_with_interval_identity_and_prompts() -> None:
    first, *others = sentences(judged(honest_code(Setup(samples=6, repeats=3, draft_arms=("dflash",)))))
    assert first.startswith("fused_dflash was 1.")
    for part in (
        " times as fast as the plain model in decoding (1.",
        " from end to end (",
        ", token for token the same",
    ):
        assert part in first
    assert "on 6 prompts of 6 kinds in 1 process" in first
    assert first.endswith(" (whether its drafter was trained on such text is not recorded).")
    assert any(each.startswith("Of the tokens that fused_dflash drafted, ") for each in others)


def test_recall_is_quoted_with_its_control() -> None:
    found = sentences(judged(honest_niah()))
    assert "The plain model found 6 of 6 needles (61 to 100 %)." in found
    assert any("identity found 6 of 6" in each and "its control ablate found fewer" in each for each in found)


def test_what_is_withheld_is_in_no_sentence() -> None:
    found = " ".join(sentences(judged(honest_niah(Setup(samples=4, repeats=1)))))
    assert "as fast as" not in found
    assert "found 4 of 4" in found
    assert sentences(samples.withheld()) == ()


def test_what_an_arm_without_weights_says_rests_on_no_training() -> None:
    found = sentences(Judge().read(EVIDENCE / "code-stdlib-smollm2.json").judged)
    (alone,) = [each for each in found if each.startswith("fused_ngram was") and "as the plain model" in each]
    assert "its drafter" not in alone
    beside = [each for each in found if "fused_ngram" in each and " as fast as fused_" in each]
    assert beside
    for each in beside:
        assert "the drafter of fused_dflash never saw" in each or "the drafter of fused_combined never saw" in each
    (both,) = [each for each in found if "as fast as fused_combined" in each and each.startswith("fused_dflash")]
    assert "the drafter of both never saw" in both


def test_noise_and_verdicts_of_no_are_no_sentences() -> None:
    every = [(path, Judge().read(path).judged) for path in sorted(EVIDENCE.glob("*.json"))]
    for path, file in every:
        text = " ".join(sentences(file))
        assert "oracle_again" not in text, path
        worth = {one.claim.arm for one in file.headlines if one.claim.name.startswith("kv_codec_worthwhile")}
        told = [each.partition(" worth ")[0] for each in sentences(file) if "native kernel" in each]
        assert set(re.split(", | and | are| is", " ".join(told))) - {""} == worth, path


def test_every_admitted_report_says_something() -> None:
    for path in sorted(EVIDENCE.glob("*.json")):
        file = Judge().read(path).judged
        assert bool(sentences(file)) == bool(file.headlines), path


@pytest.mark.parametrize(
    ("names", "text"),
    [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c"),
     (tuple("abcdefgh"), "a, b, c, d, e and 3 more")],
)  # fmt: skip
def test_many_names_are_counted(names: tuple[str, ...], text: str) -> None:
    assert listed(names) == text
