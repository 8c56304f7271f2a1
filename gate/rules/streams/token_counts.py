"""Tokens of a row: their number, the budget, the reason to stop, and the text they spell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Fault, Finding, row_finding

if TYPE_CHECKING:
    from reports.records.measurement import Measurement
    from reports.records.plan import PlanInfo


@evidence_rule(
    "TOKEN_ARITHMETIC",
    title="Token counts that do not fit the tokens",
    catches="Decode tokens that are not all but the first of the token ids, a stream over the budget, one that ended "
    "before it although it is said to have run out of it or must not stop, and equal tokens with different texts.",
    why="A rate is tokens by seconds: a count of 128 over a stream of 64 is a speed-up of two made with a text editor.",
    fix="Keep the emitted ids and derive the counts from them.",
    example=Example(bad="48 token ids, 48 decode tokens", good="48 token ids, 47 decode tokens"),
)
def token_arithmetic(view: ReportView) -> Iterator[Finding]:
    """Counts, ids, stop reason and text of a row contradict each other or the plan."""
    texts: dict[tuple[int, ...], str] = {}
    for arm in view.report.arms:
        for row in arm.measurements:
            for fault in (*_counts(view, row), *_stop(view.report.plan, row)):
                yield row_finding(arm, row, fault)
            if row.token_ids is None or row.text is None:
                continue
            known = texts.setdefault(row.token_ids, row.text)
            if known != row.text:
                message = f"the same {len(row.token_ids)} tokens spell another text than in an earlier row"
                yield row_finding(arm, row, Fault("text", message, repr(row.text[:40]), repr(known[:40])))


def _counts(view: ReportView, row: Measurement) -> Iterator[Fault]:
    if row.token_ids is None:
        return
    emitted = len(row.token_ids)
    # Imports may count the first token, which came out of prefill, with the decode tokens.
    allowed = (emitted - 1, emitted) if view.imported else (emitted - 1,)
    if emitted == 0:
        yield Fault("token_ids", "no token was emitted", "0", "at least 1")
    elif row.decode_tokens is not None and row.decode_tokens not in allowed:
        message = f"{row.decode_tokens} decode tokens, {emitted} token ids (the first came out of prefill)"
        yield Fault("decode_tokens", message, str(row.decode_tokens), str(emitted - 1))


def _stop(plan: PlanInfo | None, row: Measurement) -> Iterator[Fault]:
    budget = plan.max_new_tokens if plan is not None else None
    emitted = len(row.token_ids) if row.token_ids is not None else None
    if budget is not None and emitted is not None:
        if emitted > budget:
            yield Fault(
                "token_ids", f"{emitted} tokens emitted with a budget of {budget}", str(emitted), f"at most {budget}"
            )
        if row.stop_reason == "length" and emitted < budget:
            message = f"stopped by length after {emitted} tokens, the budget is {budget}"
            yield Fault("stop_reason", message, str(emitted), str(budget))
    stop = plan.stop if plan is not None else None
    ended_early = row.stop_reason is not None and row.stop_reason != "length"
    if stop is not None and not stop.eos and stop.ignore_turn_stop and ended_early:
        message = f"stopped by {row.stop_reason} in a run that decodes the full budget"
        yield Fault("stop_reason", message, str(row.stop_reason), "length")
