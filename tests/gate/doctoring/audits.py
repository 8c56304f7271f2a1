"""Streams that left the verifier's or collapsed, and the audits and texts that tell."""

import random

from reports.records.measurement import Arm, Measurement, Mismatch
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import drafting, of_role, under_test
from tests.gate.doctoring.reshape import set_arm
from tests.gate.doctoring.streams import OTHER
from tests.gate.edits import edit_arm, edit_rows


def diverging(report: Report) -> Report | None:
    """The truth: an arm that must lose nothing says something else than the verifier on half of its prompts."""
    name = next((arm.name for arm in report.arms if arm.role == "sut" and arm.engine == "fused"), None)
    oracle = of_role(report, "oracle")
    if name is None or oracle is None:
        return None
    truth = {row.sample: row.token_ids or () for row in oracle.measurements}

    def edit(row: Measurement) -> Measurement:
        if row.sample % 2:
            return row
        ids = [*truth[row.sample]]
        ids[9] = OTHER
        return row.replace(token_ids=tuple(ids), text=(row.text or "") + "!")

    def audit(arm: Arm) -> Arm:
        assert arm.stream_audit is not None
        streams = tuple(
            stream
            if stream.sample % 2
            else stream.replace(
                mismatches=(Mismatch(position=9, emitted=OTHER, argmax=truth[stream.sample][9], gap=2.5),)
            )
            for stream in arm.stream_audit.streams
        )
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    return edit_arm(edit_rows(report, name, edit), name, audit)


def _gaps(report: Report, gap: float | None) -> Report:
    """Every mismatch with this gap; without any if there is none."""

    def edit(arm: Arm) -> Arm:
        if arm.stream_audit is None:
            return arm
        streams = tuple(
            stream.replace(
                mismatches=tuple(miss.replace(gap=gap) for miss in stream.mismatches) if gap is not None else ()
            )
            for stream in arm.stream_audit.streams
        )
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    return report.replace(arms=tuple(edit(arm) for arm in report.arms))


@doctoring(truth=diverging)
def shrink_gaps(report: Report, rng: random.Random) -> Report | None:
    """The logit gap of a wrong token is shrunk to that of a tie."""
    return _gaps(report, rng.uniform(0.0001, 0.009))


@doctoring(truth=diverging)
def erase_mismatches(report: Report, rng: random.Random) -> Report | None:
    """The audit finds nothing any more."""
    return _gaps(report, None)


@doctoring(truth=diverging)
def drop_audits(report: Report, rng: random.Random) -> Report | None:
    """The audits of a diverging arm go."""
    return report.replace(arms=tuple(arm.replace(stream_audit=None) for arm in report.arms))


@doctoring(truth=diverging)
def drop_token_ids(report: Report, rng: random.Random) -> Report | None:
    """The tokens and audit of a diverging arm go, the oracle's text stands in for its own."""
    oracle, name = of_role(report, "oracle"), drafting(report, rng)
    if oracle is None or name is None:
        return None
    texts = {row.sample: row.text for row in oracle.measurements}
    report = edit_rows(report, name, lambda row: row.replace(token_ids=None, text=texts[row.sample]))
    return set_arm(report, name, stream_audit=None)


@doctoring(truth=diverging)
def replace_streams(report: Report, rng: random.Random) -> Report | None:
    """The streams and audit of a diverging arm are replaced by the oracle's."""
    oracle, null = of_role(report, "oracle"), of_role(report, "null")
    if oracle is None or null is None:
        return None
    rows = {(row.sample, row.repeat): row for row in oracle.measurements}

    def edit(row: Measurement) -> Measurement:
        theirs = rows[row.sample, row.repeat]
        return row.replace(token_ids=theirs.token_ids, text=theirs.text)

    for arm in report.arms:
        if arm.role == "sut":
            report = set_arm(edit_rows(report, arm.name, edit), arm.name, stream_audit=oracle.stream_audit)
    return report


def _collapsed(row: Measurement) -> Measurement:
    """The row's stream after six tokens of it is one token over and over."""
    ids = row.token_ids or ()
    repeats = max(0, len(ids) - 6)
    return row.replace(token_ids=(*ids[:6], *(OTHER,) * repeats), text="x = 1\n" + " la" * repeats)


def collapsing(report: Report) -> Report | None:
    """The truth: the verifier, and so every arm, collapses on the first prompt."""
    if report.kind != "code":
        return None
    for arm in report.arms:
        report = edit_rows(report, arm.name, _collapsed, where=lambda row: row.sample == 0)
    return report


def _said_on_first(report: Report, name: str, text: str) -> Report:
    return edit_rows(report, name, lambda row: row.replace(text=text), where=lambda row: row.sample == 0)


@doctoring(truth=collapsing)
def hide_collapse(report: Report, rng: random.Random) -> Report | None:
    """The text that ends in a runaway repeat is cut before it, in every arm; the tokens stay."""
    for arm in report.arms:
        report = _said_on_first(report, arm.name, "x = 1\n")
    return report


@doctoring(truth=collapsing)
def hide_collapse_under_test(report: Report, rng: random.Random) -> Report | None:
    """The text that ends in a runaway repeat is cut before it, in one arm under test."""
    name = under_test(report, rng)
    return _said_on_first(report, name, "x = 1\n") if name is not None else None


@doctoring(truth=collapsing)
def hide_collapse_throughout(report: Report, rng: random.Random) -> Report | None:
    """The runaway repeat is replaced by other tokens and another text, in every arm."""
    made = [rng.randrange(100, 40000) for _ in range(200)]
    for arm in report.arms:

        def edit(row: Measurement) -> Measurement:
            ids = row.token_ids or ()
            return row.replace(token_ids=(*ids[:6], *made[: len(ids) - 6]), text="x = 1\nprint(x, y)")

        report = edit_rows(report, arm.name, edit, where=lambda row: row.sample == 0)
    return report
