from typing import Any

import pytest

from reports.records.measurement import Mismatch
from reports.report import Report
from tests.gate.asking import ask, found, named
from tests.gate.cases.recall import say
from tests.gate.edits import edit_arm
from tests.gate.honest import Setup, measured_niah
from tests.gate.rules.streams.audited_streams import CODE, NIAH, audited

SILENT = "STREAM_AUDIT_SILENT"


def niah() -> Report:
    """Five prompts once; the control leaves the oracle's stream at its first token, and its audit says so."""
    return measured_niah(Setup(samples=6, repeats=1))


def seen_otherwise(report: Report, name: str, mismatches: tuple[Mismatch, ...]) -> Report:
    """The audit of an arm's first stream with these mismatches."""

    def edit(arm: Any) -> Any:
        first = arm.stream_audit.streams[0].replace(mismatches=mismatches)
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=(first, *arm.stream_audit.streams[1:])))

    return edit_arm(report, name, edit)


def first_tokens(report: Report) -> tuple[int, int]:
    """First token of the control's and of the oracle's first stream."""
    ids = {arm.name: arm.measurements[0].token_ids or () for arm in report.arms}
    return ids["ablate"][0], ids["oracle"][0]


@pytest.mark.parametrize(
    ("miss", "faulty"),
    [
        (Mismatch(position=99, emitted=1, argmax=2, gap=0.001), True),
        (Mismatch(position=3, emitted=1, argmax=2, gap=0.001), True),
        (Mismatch(position=3, emitted=CODE.arms[2].measurements[0].token_ids[3], argmax=2, gap=-0.5), True),
        (Mismatch(position=3, emitted=CODE.arms[2].measurements[0].token_ids[3], argmax=2, gap=0.001), False),
    ],
)
def test_an_audit_fits_its_stream(miss, faulty):
    assert bool(ask("STREAM_AUDIT_MISMATCH", audited(CODE, "fused_ngram", miss))) is faulty


def test_an_audit_of_a_row_that_is_not_there_fits_nothing():
    report = edit_arm(CODE, "fused_ngram", lambda arm: arm.replace(measurements=arm.measurements[1:]))
    assert ask("STREAM_AUDIT_MISMATCH", report)


def test_one_audit_serves_all_rows_with_that_stream():
    assert len(CODE.arms[2].measurements) == 4
    assert len(CODE.arms[2].stream_audit.streams) == 2
    assert not ask("STREAM_UNAUDITED", CODE)


def test_a_changed_stream_is_not_audited_by_its_twin():
    report = edit_arm(
        CODE,
        "fused_ngram",
        lambda arm: arm.replace(
            measurements=tuple(
                row.replace(token_ids=(*row.token_ids[:-1], 7)) if row.repeat == 1 else row for row in arm.measurements
            )
        ),
    )
    assert [finding.found for finding in ask("STREAM_UNAUDITED", report)] == ["2"]


def test_controls_need_no_audit():
    report = edit_arm(NIAH, "needle_free", lambda arm: arm.replace(stream_audit=None))
    assert not ask("STREAM_UNAUDITED", report)


def test_a_departure_is_recorded_with_the_oracles_token_as_the_verifiers_choice() -> None:
    report = niah()
    said, wanted = first_tokens(report)
    assert not ask(SILENT, report)
    assert found(SILENT, seen_otherwise(report, "ablate", ())) == ["None"]
    other = Mismatch(position=0, emitted=said, argmax=wanted + 1, gap=2.0)
    assert found(SILENT, seen_otherwise(report, "ablate", (other,))) == [str(wanted + 1)]
    later = Mismatch(position=1, emitted=said, argmax=wanted, gap=2.0)
    assert found(SILENT, seen_otherwise(report, "ablate", (later,))) == ["None"]


def test_where_the_oracle_itself_took_the_other_side_of_a_tie_nothing_is_wrong() -> None:
    report = niah()
    said, wanted = first_tokens(report)
    tie = Mismatch(position=0, emitted=wanted, argmax=said, gap=1e-4)
    assert not ask(SILENT, seen_otherwise(seen_otherwise(report, "ablate", ()), "oracle", (tie,)))


def test_a_control_that_says_what_the_oracle_says_has_nothing_to_explain() -> None:
    assert not ask(SILENT, say(niah(), "ablate", "oracle", range(6)))


def test_a_control_without_an_audit_is_none() -> None:
    report = edit_arm(niah(), "ablate", lambda arm: arm.replace(stream_audit=None))
    assert not ask(SILENT, report)
    claim = named(report, "restoration_recall/identity")
    assert [finding.field for finding in ask("CONTROL_MISSING", report, claim)] == ["stream_audit"]
