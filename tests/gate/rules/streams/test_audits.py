"""The audit of lossy streams explains where they leave the oracle's."""

from typing import Any

from reports.records.measurement import Mismatch
from reports.report import Report
from tests.gate.asking import ask, found, named
from tests.gate.cases.recall import say
from tests.gate.edits import edit_arm
from tests.gate.honest import Setup, measured_niah

CODE = "STREAM_AUDIT_SILENT"


def niah() -> Report:
    """Five prompts once; the control leaves the oracle's stream at its first token, and its audit says so."""
    return measured_niah(Setup(samples=5, repeats=1))


def audited(report: Report, name: str, mismatches: tuple[Mismatch, ...]) -> Report:
    """The audit of an arm's first stream with these mismatches."""

    def edit(arm: Any) -> Any:
        first = arm.stream_audit.streams[0].replace(mismatches=mismatches)
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=(first, *arm.stream_audit.streams[1:])))

    return edit_arm(report, name, edit)


def first_tokens(report: Report) -> tuple[int, int]:
    """First token of the control's and of the oracle's first stream."""
    ids = {arm.name: arm.measurements[0].token_ids or () for arm in report.arms}
    return ids["ablate"][0], ids["oracle"][0]


def test_a_departure_is_recorded_with_the_oracles_token_as_the_verifiers_choice() -> None:
    report = niah()
    said, wanted = first_tokens(report)
    assert not ask(CODE, report)
    assert found(CODE, audited(report, "ablate", ())) == ["None"]
    other = Mismatch(position=0, emitted=said, argmax=wanted + 1, gap=2.0)
    assert found(CODE, audited(report, "ablate", (other,))) == [str(wanted + 1)]
    later = Mismatch(position=1, emitted=said, argmax=wanted, gap=2.0)
    assert found(CODE, audited(report, "ablate", (later,))) == ["None"]


def test_where_the_oracle_itself_took_the_other_side_of_a_tie_nothing_is_wrong() -> None:
    report = niah()
    said, wanted = first_tokens(report)
    tie = Mismatch(position=0, emitted=wanted, argmax=said, gap=1e-4)
    assert not ask(CODE, audited(audited(report, "ablate", ()), "oracle", (tie,)))


def test_a_control_that_says_what_the_oracle_says_has_nothing_to_explain() -> None:
    assert not ask(CODE, say(niah(), "ablate", "oracle", range(5)))


def test_a_control_without_an_audit_is_none() -> None:
    report = edit_arm(niah(), "ablate", lambda arm: arm.replace(stream_audit=None))
    assert not ask(CODE, report)
    claim = named(report, "restoration_recall/identity")
    assert [finding.field for finding in ask("CONTROL_MISSING", report, claim)] == ["stream_audit"]
