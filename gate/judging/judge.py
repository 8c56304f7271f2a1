"""judge(report) -> Judgement: the only place where a claim is admitted."""

from collections.abc import Iterable
from dataclasses import dataclass

from gate.claims.propose import propose
from gate.claims.recompute import counted
from gate.figures.statistics.intervals import Share
from gate.judging.apply_rules import Fired, apply_all, names_of, spelled_out
from gate.judging.reasons import Reason, reasons_of
from gate.judging.rule_set import RULE_SET, find_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Finding, Severity
from reports.records.claims import BaseClaim, Claim, Status
from reports.records.record import Record
from reports.records.verdict import GateBlock, Verdict, Violation
from reports.report import Report
from reports.untrusted.one_line import one_line

SHOWN_FINDINGS = 3
"""Findings of one rule that its violation spells out; the rest is counted."""

MESSAGE_LENGTH = 400
"""Characters of one finding's message."""

SHOWN_NAMES = 2
NAME_LENGTH = 60
"""Of what a gate block states and this gate does not find, or the reverse: so many are named, in so many characters."""

OUTSIDE = frozenset({"PARITY_REQUIRED"})
"""Codes that depend on reports beside the judged one."""


class JudgedClaim(Record):
    """A claim after judgement; `withheld_by` are the codes that block it."""

    name: str
    metric: str
    value: float
    status: Status
    withheld_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Headline:
    """An admitted claim: the only type a headline printer accepts. Only `Judgement.headlines` makes one."""

    claim: BaseClaim
    counted: Share | None = None
    """So many of so many, where the claim is a share of prompts or rows."""


@dataclass(frozen=True)
class Judgement:
    """What may be said of a report, and why not more."""

    report: Report
    verdict: Verdict
    violations: tuple[Violation, ...]
    claims: tuple[JudgedClaim, ...]
    reasons: tuple[Reason, ...] = ()

    @property
    def headlines(self) -> tuple[Headline, ...]:
        """The claims that may be printed as such."""
        if self.verdict in ("invalid", "legacy", "not_evidence"):
            return ()
        admitted = {claim.name for claim in self.claims if claim.status == "admitted"}
        view = ReportView(self.report)
        return tuple(Headline(claim, counted(view, claim)) for claim in self.report.claims if claim.name in admitted)


def judge(report: Report, extra: tuple[Violation, ...] = (), parity: frozenset[str] = frozenset()) -> Judgement:
    """Judge `report` by every rule; pure. `extra` are violations found outside it (a retraction): each blocks the
    claims it names, asserted or not. `parity` are digests of drafter weights whose parity another report has shown.

    A rule that raises is itself a violation and blocks everything: what cannot be judged is not admitted.
    """
    view = ReportView(report, parity)
    fired = apply_all(view)
    fired += _disagreements(view, fired)
    asserted = _asserted(report)
    broken = [hit for hit in fired if hit.is_violation(asserted)]
    blockers = _blockers(report.claims, fired, extra)
    for hit in broken:
        if hit.severity == "invalid":
            for codes in blockers.values():
                codes.add(hit.rule.code)
    outside = tuple(violation.replace(claims=_among(violation.claims, asserted)) for violation in extra)
    severities = {hit.severity for hit in broken} | {_severity(violation) for violation in extra}
    claims = tuple(_judged(claim, blockers[claim.name]) for claim in report.claims)
    violations = outside + _violations(broken, asserted)
    told = {violation.code for violation in violations}
    silent = [hit for hit in fired if hit.rule.code not in told]
    reasons = reasons_of(silent, [claim.name for claim in claims if claim.status == "withheld"])
    return Judgement(report, _verdict(severities), violations, claims, reasons)


def conclude(report: Report, parity: frozenset[str] = frozenset()) -> Report:
    """`report` with every claim its rows can carry, each admitted or withheld, and the gate block that says so.

    `parity` is as for `judge`.
    """
    asserted = tuple(claim.replace(status="claimed") for claim in propose(report))
    bare = report.replace(claims=asserted, gate=None)
    view = ReportView(bare, parity)
    fired = apply_all(view)
    blockers = _blockers(bare.claims, fired, ())
    settled = tuple(
        claim.replace(
            status="withheld" if blockers[claim.name] else "admitted", withheld_by=tuple(sorted(blockers[claim.name]))
        )
        for claim in bare.claims
    )
    final = judge(bare.replace(claims=settled), parity=parity)
    gate = GateBlock(rule_set=RULE_SET, verdict=final.verdict, violations=final.violations)
    return bare.replace(claims=settled, gate=gate)


def _asserted(report: Report) -> frozenset[str]:
    return frozenset(claim.name for claim in report.claims if claim.status != "withheld")


def _disagreements(view: ReportView, fired: list[Fired]) -> list[Fired]:
    """Where the gate block and the reasons for withholding that a report states are not what this gate derives.

    What other reports show (`OUTSIDE`) is left out on both sides: it may have become known or been moved since.
    """
    stated = view.report.gate
    fired = [hit for hit in fired if hit.rule.code not in OUTSIDE]
    rule = find_rule("CLAIM_NOT_REPRODUCIBLE")
    if stated is None or stated.rule_set != RULE_SET or rule is None:
        return []
    asserted = _asserted(view.report)
    broken = [hit for hit in fired if hit.is_violation(asserted)]
    derived = _violations(broken, asserted)
    verdict = _verdict({hit.severity for hit in broken})
    findings = []
    claimed = tuple(violation for violation in stated.violations if violation.code not in OUTSIDE)
    only_outside = stated.verdict == "withheld" and stated.violations and not claimed
    if stated.verdict != verdict and not (only_outside and verdict == "admissible"):
        findings.append(_forged("gate.verdict", stated.verdict, verdict))
    ours, theirs = _outline(derived), _outline(claimed)
    if ours != theirs:
        findings.append(_forged("gate.violations", _shortly(theirs - ours), _shortly(ours - theirs)))
    blockers = _blockers(view.report.claims, fired, ())
    for claim in view.report.claims:
        stated_codes, codes = set(claim.withheld_by) - OUTSIDE, blockers[claim.name]
        if stated_codes != codes and claim.status == "withheld":
            shown = _shortly(stated_codes - codes), _shortly(codes - stated_codes)
            findings.append(_forged(f"claims.{claim.name}.withheld_by", *shown))
    return [Fired(rule, finding, names_of(view.report.claims)) for finding in findings]


def _shortly(names: Iterable[str]) -> str:
    """The first of the names, whole, and how many others there are."""
    listed = sorted(names)
    more = f" and {len(listed) - SHOWN_NAMES} more" if len(listed) > SHOWN_NAMES else ""
    return ", ".join(one_line(name, NAME_LENGTH) for name in listed[:SHOWN_NAMES]) + more


def _outline(violations: Iterable[Violation]) -> set[str]:
    return {f"{v.code}({', '.join(sorted(v.claims))})" for v in violations}


def _forged(field: str, found: str, allowed: str) -> Finding:
    found, allowed = one_line(found or "none", 120), one_line(allowed or "none", 120)
    message = f"{field}: the report states {found}; judged again by the same rules it is {allowed}"
    return Finding(message, field=one_line(field, 200), found=found, allowed=allowed, severity="invalid")


def _blockers(claims: Iterable[BaseClaim], fired: Iterable[Fired], extra: Iterable[Violation]) -> dict[str, set[str]]:
    """Codes that block each claim, asserted or not."""
    claims = tuple(claims)
    blockers: dict[str, set[str]] = {claim.name: set() for claim in claims}
    for code, names in [(hit.rule.code, hit.blocked) for hit in fired] + [(v.code, v.claims) for v in extra]:
        for name in names:
            if name in blockers:
                blockers[name].add(code)
    return blockers


def _violations(broken: Iterable[Fired], asserted: frozenset[str]) -> tuple[Violation, ...]:
    """One violation a rule: a broken row repeats itself in every row, and a reader needs the rule once."""
    by_code: dict[str, list[Fired]] = {}
    for hit in broken:
        by_code.setdefault(hit.rule.code, []).append(hit)
    return tuple(_violation(hits, asserted) for hits in by_code.values())


def _violation(hits: list[Fired], asserted: frozenset[str]) -> Violation:
    """The place and numbers of the first finding; the messages of the first few, and how many there are."""
    first = hits[0].finding
    return Violation(
        code=hits[0].rule.code,
        message=spelled_out((hit.finding.message for hit in hits), SHOWN_FINDINGS, MESSAGE_LENGTH),
        claims=_among(dict.fromkeys(name for hit in hits for name in hit.blocked), asserted),
        arm=first.arm,
        sample=first.sample,
        field=first.field,
        found=first.found,
        allowed=first.allowed,
    )


def _among(names: Iterable[str], asserted: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in asserted)


def _judged(claim: Claim, codes: set[str]) -> JudgedClaim:
    asserted = claim.status != "withheld"
    status: Status = "admitted" if asserted and not codes else "withheld"
    return JudgedClaim(
        name=claim.name, metric=claim.metric, value=claim.value, status=status, withheld_by=tuple(sorted(codes))
    )


def _severity(violation: Violation) -> Severity:
    rule = find_rule(violation.code)
    return rule.severity if rule is not None else "invalid"


def _verdict(severities: set[Severity]) -> Verdict:
    for verdict in ("legacy", "invalid", "withheld"):
        if verdict in severities:
            return verdict
    return "admissible"
