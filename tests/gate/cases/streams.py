"""Cases of the rules about emitted tokens and their audits."""

from functools import cache
from typing import Any

from reports.engines import MLX_LM_SPECULATIVE
from reports.records.measurement import Measurement, Mismatch, ServedBy
from reports.records.plan import prompts_digest
from reports.report import Report
from tests.gate.cases.bases import NGRAM, approximating, code, code_of_five, long_streams
from tests.gate.edits import edit_arm, edit_rows, only_runs, said_otherwise, set_first_row, set_plan, set_rows
from tests.gate.rule_case import RuleCase, measured

AUDIT = f"arms/{NGRAM}/stream_audit"


def edit_first_audit(report: Report, **changes: object) -> Report:
    """`report` with fields of the audit of the drafting arm's first stream changed."""

    def edit(arm: Any) -> Any:
        streams = (arm.stream_audit.streams[0].replace(**changes), *arm.stream_audit.streams[1:])
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    return edit_arm(report, NGRAM, edit)


def diverge(report: Report) -> Report:
    ids = next(arm for arm in report.arms if arm.name == NGRAM).measurements[0].token_ids or ()
    return edit_first_audit(report, mismatches=(Mismatch(position=3, emitted=ids[3], argmax=7, gap=2.5),))


@cache
def read_back() -> Report:
    """The drafting arm is a peer of another project, behind a server that sends text alone."""
    loop = MLX_LM_SPECULATIVE.decode_loop
    served = ServedBy(protocol="openai.completions", token_ids="read_back")
    return edit_arm(
        set_rows(code_of_five(), NGRAM, decode_loop=loop),
        NGRAM,
        lambda arm: arm.replace(role="peer", engine=MLX_LM_SPECULATIVE.name, decode_loop=loop, served_by=served),
    )


def audit_elsewhere(report: Report) -> Report:
    ids = next(arm for arm in report.arms if arm.name == NGRAM).measurements[0].token_ids or ()
    return edit_first_audit(report, tokens_checked=len(ids) - 1)


def collapse(report: Report) -> Report:
    """The verifier itself collapses on a prompt, so every arm does."""
    for arm in report.arms:
        report = set_first_row(report, arm.name, text="x = 1\n" + "la " * 12)
    return report


def same_stream(report: Report) -> Report:
    """Sample 1 says what sample 0 says, in every arm."""
    for arm in report.arms:
        first = arm.measurements[0]
        report = set_rows(report, arm.name, token_ids=first.token_ids, text=first.text)
    return report


def two_ties(report: Report) -> Report:
    """The drafting arm leaves the verifier's choice at a token of each of its streams, by next to nothing."""

    def other(ids: tuple[int, ...]) -> tuple[int, ...]:
        return (*ids[:3], 7, *ids[4:])

    def row(one: Measurement) -> Measurement:
        return one.replace(token_ids=other(one.token_ids or ()))

    truth = {one.sample: one.token_ids or () for one in report.arms[0].measurements}

    def edit(arm: Any) -> Any:
        streams = tuple(
            stream.replace(mismatches=(Mismatch(position=3, emitted=7, argmax=truth[stream.sample][3], gap=0.002),))
            for stream in arm.stream_audit.streams
        )
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    return edit_arm(edit_rows(report, NGRAM, row), NGRAM, edit)


def four_prompts_only(report: Report) -> Report:
    """The last prompt was never asked."""
    assert report.workload is not None
    workload = report.workload.replace(prompts=report.workload.prompts[:4])
    report = report.replace(workload=workload.replace(digest=prompts_digest(workload.prompts)))
    return set_plan(only_runs(report, lambda run: run.sample < 4), samples=4)


def go_round(report: Report) -> Report:
    """The arm answers the first prompt with the same eleven tokens three times over, the plain model does not."""
    return said_otherwise(report, NGRAM, lambda said: (*said[:1], *said[1:12] * 3)[: len(said)])


CASES: dict[str, RuleCase] = {
    "STREAM_DIVERGENCE": measured(code, diverge, f"{AUDIT}/streams/0.0/mismatches"),
    "STREAM_READ_BACK": measured(
        read_back, diverge, f"{AUDIT}/streams/0.0/mismatches", claims=(f"token_identity/{NGRAM}",)
    ),
    "STREAM_AUDIT_MISMATCH": measured(code, audit_elsewhere, f"{AUDIT}/streams/0.0/tokens_checked"),
    "STREAM_UNAUDITED": measured(
        code, lambda report: edit_arm(report, NGRAM, lambda arm: arm.replace(stream_audit=None)), AUDIT
    ),
    "STREAM_REPEATED": measured(
        long_streams, same_stream, "arms/*/measurements/1.0/token_ids", "arms/*/measurements/1.0/text"
    ),
    "STREAM_TIES": measured(code, two_ties, f"arms/{NGRAM}/measurements/*/token_ids", f"{AUDIT}/streams/*/mismatches"),
    "STREAM_LOOPS": measured(
        approximating,
        go_round,
        f"arms/{NGRAM}/measurements/0.*/token_ids",
        f"{AUDIT}/streams/0.0/mismatches",
        claims=(f"decode_speedup/{NGRAM}",),
    ),
    "STREAM_SAMPLES": measured(
        code_of_five,
        four_prompts_only,
        "workload",
        "plan/samples",
        "plan/order",
        "arms/*/measurements/*",
        "arms/*/stream_audit/streams/4.0",
        claims=(f"token_identity/{NGRAM}",),
    ),
    "OUTPUT_DEGENERATE": measured(code, collapse, "arms/*/measurements/0.0/text"),
    "TOKEN_ARITHMETIC": measured(
        code,
        lambda report: set_first_row(report, "oracle", decode_tokens=22),
        "arms/oracle/measurements/0.0/decode_tokens",
    ),
}
