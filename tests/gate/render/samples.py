"""Judged files of every state, and strings that no output format may pass on as they are."""

from pathlib import Path

from hypothesis import strategies as st

from gate.judging.judge import JudgedClaim
from gate.judging.judge_evidence import judge_evidence
from gate.judging.judged_file import JudgedFile
from reports.reading.evidence import Evidence, Invalid, Legacy, NotAReport, Unreadable
from reports.records.verdict import Violation
from reports.report import Report
from tests.gate.honest import Setup, honest_code

HOSTILE = (
    "\x1b[31m\x1b]0;title\x07 [bold]x[/bold] :boom: \r\n::error::forged\n%0A </td><script>alert('1')</script> "
    '<img src="http://example.org/x" onerror=alert(1)> &amp; | `code` *x* _y_ [a](http://example.org) ]]> '
    "\u202e\x9b\x00"
)


def honest_report() -> Report:
    """A small report whose claims are admitted or withheld for want of nothing but samples."""
    return honest_code(Setup(samples=6, repeats=3, draft_arms=("dflash",)))


def admissible() -> JudgedFile:
    """A file with headlines."""
    return judge_evidence(Evidence(Path("runs/good.json"), honest_report(), "sha256:" + "0" * 64, "k3", "code", 2))


def every_state() -> list[JudgedFile]:
    """One file of each verdict, and one that could not be opened."""
    return [
        admissible(),
        judge_evidence(Evidence(Path("runs/invalid.json"), Invalid("kind: missing"), None, "k3", None, 2)),
        judge_evidence(Evidence(Path("runs/legacy.json"), Legacy(honest_report()), None, "k3-mac", "niah", 1)),
        judge_evidence(Evidence(Path("runs/gone.json"), Unreadable("cannot be read: gone", True))),
        judge_evidence(Evidence(Path("runs/package.json"), NotAReport())),
        withheld(),
    ]


def withheld() -> JudgedFile:
    """An asserted claim that a violation blocks."""
    return named("runs/withheld.json", "SPEEDUP_SAMPLES", "3 samples; at least 5", "decode_speedup/fused")


def named(path: str, code: str, message: str, claim: str) -> JudgedFile:
    """A withheld file with one violation and one claim, of the given strings."""
    violation = Violation(
        code=code, message=message, claims=(claim,), arm=claim, sample=3, field=claim, found=message, allowed="5"
    )
    judged = JudgedClaim(name=claim, metric="decode_speedup", value=2.5, status="withheld", withheld_by=(code,))
    return JudgedFile(path, "k3", claim, 2, "withheld", (violation,), (judged,))


def hostile() -> JudgedFile:
    """Every string that can come from a file is hostile, its name too."""
    return named("a" + HOSTILE + "\udcff.json", HOSTILE[:200].strip(), HOSTILE, HOSTILE[:200])


texts = st.text(max_size=80)
names = st.text(min_size=1, max_size=80)


@st.composite
def files(draw: st.DrawFn) -> JudgedFile:
    """A judged file of arbitrary strings, as far as the records let them through."""
    try:
        return named(draw(names), draw(names), draw(texts), draw(names))
    except ValueError:
        return named("x", "X", "x", "x")
