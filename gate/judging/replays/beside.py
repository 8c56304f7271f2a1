"""A report and its replays, seen together: what one says of the report, and whether it is of that report at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gate.figures.replay.confirmed import WHOLE, Disagreement, disagreements, other_runtime
from gate.rulebook.report_view import ReportView
from gate.rules.replay.agreement import REPLAY_OF_ANOTHER, REPLAY_REFUTES
from reports.engines import MLX
from reports.records.verdict import Violation
from reports.replays.facts import facts_of
from reports.replays.population import audit_key, audits_of, population, rows_of
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from reports.report import Report


@dataclass(frozen=True)
class Beside:
    """What is known of a file from others: of a report the sound replays of it, of a replay the report it is of."""

    replays: tuple[Report, ...] = ()
    original: Report | None = None


NOTHING_BESIDE = Beside()


def of_replays(report: Report, beside: Beside) -> Iterator[Violation]:
    """What the files beside a report say against it; of a replay also that they do not say anything."""
    if report.replay is not None:
        fault = unlike_original(report, beside.original)
        if fault is not None:
            field, message, found, allowed = fault
            claims = tuple(claim.name for claim in report.claims)
            yield _violation(REPLAY_OF_ANOTHER.code, message, claims, field, found, allowed)
    for replay in beside.replays:
        # What came out otherwise on the other runtime says that the two are not at par, nothing against the report.
        view = ReportView(replay)
        against = [] if other_runtime(view) else disagreements(view)
        if against:
            yield _refuted(report, replay, against)


def unlike_original(report: Report, original: Report | None) -> tuple[str, str, str, str] | None:
    """Why a replay is not one of `original`: the field, the words, what was found and what may be; none if it is."""
    replay = report.replay
    assert replay is not None
    if original is None:
        message = f"replay.original: {replay.original[:19]} is no report beside it or among the judged files"
        return "replay.original", message, replay.original[:19], "the report of that digest"
    runtime = original.provenance.runtime if original.provenance is not None else None
    if replay.original_runtime != runtime:
        told, ran = (one.backend if one is not None else MLX for one in (replay.original_runtime, runtime))
        message = f"replay.original_runtime: {told}, and the report ran on {ran}, or with another device or type"
        return "replay.original_runtime", message, told, ran
    facts = facts_of(original)
    wrong = next((fact for fact in replay.facts if facts.get(fact.field) != fact.original), None)
    if wrong is not None:
        message = f"replay.facts: {wrong.field} is {wrong.original} as the replay has it, and not in the report"
        return "replay.facts", message, wrong.original[:80], str(facts.get(wrong.field))[:80]
    if len(replay.facts) != len(facts) or {fact.field for fact in replay.facts} != facts.keys():
        found, allowed = str(len({fact.field for fact in replay.facts})), str(len(facts))
        return "replay.facts", f"replay.facts: {found} facts, the report has {allowed}", found, allowed
    if replay.population != population(original):
        message = "replay.population: other arms, or other numbers of rows, than the report has"
        return "replay.population", message, f"{len(replay.population)} arms", "those of the report"
    rows, audits = rows_of(original), audits_of(original)
    for row in replay.rows:
        own = rows[row.arm][row.place] if row.place < len(rows.get(row.arm, ())) else None
        if own != row.original or audits.get(audit_key(row.arm, row.original)) != row.original_audit:
            where = f"{row.arm}, row {row.place}"
            return "replay.rows.original", f"replay.rows: {where} is not the report's", where, "the report's row"
    return None


def _refuted(report: Report, replay: Report, found: list[Disagreement]) -> Violation:
    """Blocks the claims about the arms; all of them where it is the plain model or the whole run."""
    plain = {arm.name for arm in report.arms if arm.role in ("oracle", "null")} | {WHOLE, "oracle"}
    arms = {one.arm for one in found}
    claims = report.claims if arms & plain else [one for one in report.claims if arms & {one.arm, one.baseline}]
    first, more = found[0], f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    field, original, replayed = first.found[0]
    message = f"{replay.report_id} ran it again: {first.where}, {field} is {replayed}, not {original}{more}"
    names = tuple(claim.name for claim in claims)
    return _violation(REPLAY_REFUTES.code, message, names, field or "rows", original, replayed)


def _violation(code: str, message: str, claims: tuple[str, ...], field: str, found: str, allowed: str) -> Violation:
    return Violation(
        code=code,
        message=one_line(message, 1000),
        claims=claims,
        field=one_line(field, 200),
        found=one_line(found, 100),
        allowed=one_line(allowed, 100),
    )
