"""judge(report) -> Judgement: the only place where a claim is admitted."""

from collections.abc import Iterable
from dataclasses import dataclass

from gate.case import Case
from gate.claims import propose
from gate.firing import Fired, apply_all, names_of
from gate.registry import RULE_SET, find_rule
from gate.rule import Finding, Severity
from reports.claims import BaseClaim, Claim, Status
from reports.one_line import one_line
from reports.record import Record
from reports.report import Report
from reports.verdict import GateBlock, Verdict, Violation

MAX_VIOLATIONS_PER_RULE = 20
"""Of one rule in one report; the rest is counted. A broken row repeats itself in every row."""

MESSAGE_LENGTH = 600


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


@dataclass(frozen=True)
class Judgement:
    """What may be said of a report, and why not more."""

    report: Report
    verdict: Verdict
    violations: tuple[Violation, ...]
    claims: tuple[JudgedClaim, ...]

    @property
    def headlines(self) -> tuple[Headline, ...]:
        """The claims that may be printed as such."""
        if self.verdict in ("invalid", "legacy", "not_evidence"):
            return ()
        admitted = {claim.name for claim in self.claims if claim.status == "admitted"}
        return tuple(Headline(claim) for claim in self.report.claims if claim.name in admitted)


def judge(report: Report, extra: tuple[Violation, ...] = ()) -> Judgement:
    """Judge `report` by every rule; pure. `extra` are violations found outside it (a retraction): each blocks the
    claims it names, asserted or not.

    A rule that raises is itself a violation and blocks everything: what cannot be judged is not admitted.
    """
    case = Case(report)
    fired = apply_all(case)
    fired += _disagreements(case, fired)
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
    return Judgement(report, _verdict(severities), outside + _violations(broken, asserted), claims)


def conclude(report: Report) -> Report:
    """`report` with every claim its rows can carry, each admitted or withheld, and the gate block that says so."""
    bare = report.replace(claims=propose(report), gate=None)
    case = Case(bare)
    fired = apply_all(case)
    blockers = _blockers(bare.claims, fired, ())
    settled = tuple(
        claim.replace(
            status="withheld" if blockers[claim.name] else "admitted", withheld_by=tuple(sorted(blockers[claim.name]))
        )
        for claim in bare.claims
    )
    final = judge(bare.replace(claims=settled))
    gate = GateBlock(rule_set=RULE_SET, verdict=final.verdict, violations=final.violations)
    return bare.replace(claims=settled, gate=gate)


def _asserted(report: Report) -> frozenset[str]:
    return frozenset(claim.name for claim in report.claims if claim.status != "withheld")


def _disagreements(case: Case, fired: list[Fired]) -> list[Fired]:
    """Where the gate block and the reasons for withholding that a report states are not what this gate derives."""
    stated = case.report.gate
    rule = find_rule("CLAIM_NOT_REPRODUCIBLE")
    if stated is None or stated.rule_set != RULE_SET or rule is None:
        return []
    asserted = _asserted(case.report)
    broken = [hit for hit in fired if hit.is_violation(asserted)]
    derived = _violations(broken, asserted)
    verdict = _verdict({hit.severity for hit in broken})
    findings = []
    if stated.verdict != verdict:
        findings.append(_forged("gate.verdict", stated.verdict, verdict))
    ours, theirs = _outline(derived), _outline(stated.violations)
    if ours != theirs:
        findings.append(_forged("gate.violations", ", ".join(sorted(theirs)), ", ".join(sorted(ours))))
    blockers = _blockers(case.report.claims, fired, ())
    for claim in case.report.claims:
        if set(claim.withheld_by) != blockers[claim.name] and claim.status == "withheld":
            shown = ", ".join(sorted(claim.withheld_by)), ", ".join(sorted(blockers[claim.name]))
            findings.append(_forged(f"claims.{claim.name}.withheld_by", *shown))
    return [Fired(rule, finding, names_of(case.report.claims)) for finding in findings]


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
    counts: dict[str, int] = {}
    shown: list[Violation] = []
    for hit in broken:
        count = counts[hit.rule.code] = counts.get(hit.rule.code, 0) + 1
        if count <= MAX_VIOLATIONS_PER_RULE:
            shown.append(_violation(hit, _among(hit.blocked, asserted)))
    for code, count in counts.items():
        if count > MAX_VIOLATIONS_PER_RULE:
            shown.append(Violation(code=code, message=f"and {count - MAX_VIOLATIONS_PER_RULE} more of the same kind"))
    return tuple(shown)


def _violation(hit: Fired, named: tuple[str, ...]) -> Violation:
    finding = hit.finding
    return Violation(
        code=hit.rule.code,
        message=one_line(finding.message, MESSAGE_LENGTH),
        claims=named,
        arm=finding.arm,
        sample=finding.sample,
        field=finding.field,
        found=finding.found,
        allowed=finding.allowed,
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
