"""Cases of the rules about recall: its scope, its controls, its scoring."""

from collections.abc import Callable, Sequence
from typing import Any

from reports.records.claims import RecallClaim
from reports.records.measurement import Measurement, Mismatch
from reports.report import Report
from tests.gate.cases.bases import IDENTITY, judged, native_baseline, niah_of_five, projecting
from tests.gate.edits import edit_arm, edit_rows, set_first_row
from tests.gate.rule_case import RuleCase, measured, stated

RECALL = f"restoration_recall/{IDENTITY}"
SAID = ("token_ids", "text", "correct", "decode_tokens", "decode_s", "e2e_s")


def say(report: Report, name: str, source: str, samples: Sequence[int]) -> Report:
    """Let arm `name` say in these samples what arm `source` said, with the same score."""
    said = {row.sample: row for row in next(arm for arm in report.arms if arm.name == source).measurements}

    def edit(row: Measurement) -> Measurement:
        theirs = said[row.sample]
        assert row.decode_s is not None
        assert row.e2e_s is not None
        assert row.decode_tokens is not None
        assert theirs.decode_tokens is not None
        longer = row.decode_s * (theirs.decode_tokens / row.decode_tokens - 1)
        return row.replace(
            token_ids=theirs.token_ids,
            text=theirs.text,
            correct=theirs.correct,
            decode_tokens=theirs.decode_tokens,
            decode_s=row.decode_s + longer,
            e2e_s=row.e2e_s + longer,
        )

    def audited(arm: Any) -> Any:
        rows = {(row.sample, row.repeat): row for row in arm.measurements}
        streams = tuple(
            stream.replace(tokens_checked=len(rows[stream.sample, stream.repeat].token_ids), mismatches=())
            for stream in arm.stream_audit.streams
        )
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    report = edit_rows(report, name, edit, where=lambda row: row.sample in samples)
    return edit_arm(report, name, audited)


def hush(report: Report) -> Report:
    """The control's audit has seen nothing, as if its stream were the verifier's own."""

    def edit(arm: Any) -> Any:
        first = arm.stream_audit.streams[0].replace(mismatches=())
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=(first, *arm.stream_audit.streams[1:])))

    return edit_arm(report, "ablate", edit)


def forgetful(report: Report) -> Report:
    """The verifier itself recalls nothing."""
    for name in ("oracle", "oracle_again", "native"):
        report = say(report, name, "ablate", range(5))
    return report


def forgetting_one(report: Report) -> Report:
    """The verifier forgets a prompt that the projecting arm answers, against the verifier's choice."""
    for name in ("oracle", "oracle_again"):
        report = say(report, name, "ablate", (3,))
    lost, kept = (
        next(arm for arm in report.arms if arm.name == name).measurements[3].token_ids or ()
        for name in ("oracle", "f_theta")
    )
    report = edit_arm(report, "ablate", lambda arm: _audited(arm, ()))
    return edit_arm(
        report, "f_theta", lambda arm: _audited(arm, (Mismatch(position=0, emitted=kept[0], argmax=lost[0], gap=1.5),))
    )


def _audited(arm: Any, mismatches: tuple[Mismatch, ...]) -> Any:
    """The audit of the fourth prompt's stream, with these mismatches."""
    streams = tuple(one.replace(mismatches=mismatches) if one.sample == 3 else one for one in arm.stream_audit.streams)
    return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))


def renamed(report: Report) -> Report:
    """The baseline's recall, claimed as an arm's."""
    claims = tuple(
        RecallClaim.model_validate(
            claim.model_dump() | {"name": "arm_recall/native", "metric": "arm_recall", "status": "claimed"}
        )
        if claim.name == "native_baseline_recall/native"
        else claim
        for claim in report.claims
    )
    return report.replace(claims=claims, gate=None)


def evicting_after(report: Report) -> Report:
    """The control read its whole prompt before it evicted."""

    def edit(arm: Any) -> Any:
        return arm.replace(restoration=arm.restoration.replace(eviction="after"))

    return edit_arm(report, "ablate", edit)


def _recall(edit: Callable[[Report], Report], *places: str) -> RuleCase:
    return measured(niah_of_five, edit, *places, claims=(RECALL,))


def _answer(name: str, sample: int) -> tuple[str, ...]:
    return tuple(f"arms/{name}/measurements/{sample}.0/{field}" for field in ("token_ids", "text", "correct"))


def _said(*names: str) -> tuple[str, ...]:
    rows = tuple(f"arms/{name}/measurements/*/{field}" for name in names for field in SAID)
    return rows + tuple(f"arms/{name}/stream_audit/streams" for name in names)


CASES: dict[str, RuleCase] = {
    "BASELINE_RECALL_CLAIM": stated(lambda: judged(native_baseline()), renamed, "claims"),
    "RECALL_SCOPE": _recall(
        lambda report: set_first_row(report, IDENTITY, restored_positions=1),
        f"arms/{IDENTITY}/measurements/0.0/restored_positions",
    ),
    "CONTROL_MISSING": _recall(evicting_after, "arms/ablate/restoration/eviction"),
    "CONTROL_RECALL_HIGH": _recall(lambda report: say(report, "ablate", "oracle", range(5)), *_said("ablate")),
    "ORACLE_RECALL_LOW": measured(
        native_baseline,
        forgetful,
        *_said("oracle", "oracle_again", "native"),
        claims=("native_baseline_recall/native",),
    ),
    "RECALL_ABOVE_ORACLE": measured(
        projecting,
        forgetting_one,
        *(
            f"arms/{name}/measurements/3.0/{field}"
            for name in ("oracle", "oracle_again")
            for field in ("token_ids", "text", "correct")
        ),
        *(f"arms/{name}/stream_audit/streams/3.0/mismatches" for name in ("ablate", "f_theta")),
        claims=("restoration_recall/f_theta",),
    ),
    "STREAM_AUDIT_SILENT": measured(niah_of_five, hush, "arms/ablate/stream_audit/streams/0.0/mismatches"),
    "NEEDLE_CONTROL": _recall(lambda report: say(report, "needle_free", "oracle", (3,)), *_answer("needle_free", 3)),
    "RECALL_SCORING": measured(
        niah_of_five,
        lambda report: set_first_row(report, "ablate", correct=True),
        "arms/ablate/measurements/0.0/correct",
    ),
}
