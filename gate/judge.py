"""judge(report) -> Judgement: the only place where a claim is admitted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gate.case import Case
from gate.claims import propose
from gate.registry import RULE_SET, all_rules
from gate.rule import Finding, Rule, Severity
from reports.claims import BaseClaim, Status
from reports.record import Record
from reports.report import Report
from reports.verdict import GateBlock, Verdict, Violation


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


@dataclass(frozen=True)
class _Fired:
    """A finding with its rule and the claims it blocks (all of them, asserted or not)."""

    rule: Rule
    finding: Finding
    blocked: tuple[str, ...]


def judge(report: Report, extra: tuple[Violation, ...] = ()) -> Judgement:
    """Judge `report` by every rule; pure. `extra` are violations found outside it (a retraction, an old schema).

    A rule that raises is itself a violation and blocks everything: what cannot be judged is not admitted.
    """
    case = Case(report)
    fired = [hit for rule in all_rules() for hit in _apply(rule, case)]
    blockers: dict[str, list[str]] = {claim.name: [] for claim in report.claims}
    for hit in fired:
        for name in hit.blocked:
            if hit.rule.code not in blockers[name]:
                blockers[name].append(hit.rule.code)
    for violation in extra:
        for name in violation.claims:
            blockers[name].append(violation.code)
    claims = tuple(_judged(claim, tuple(sorted(blockers[claim.name]))) for claim in report.claims)
    asserted = {claim.name for claim in report.claims if claim.status != "withheld"}
    violations = list(extra)
    severities: list[Severity] = []
    for hit in fired:
        named = tuple(name for name in hit.blocked if name in asserted)
        if hit.rule.claim is None or named:
            violations.append(_violation(hit, named))
            severities.append(hit.rule.severity)
    return Judgement(report, _verdict(severities, extra), tuple(violations), claims)


def conclude(report: Report) -> Report:
    """`report` with every claim its rows can carry, each admitted or withheld, and the gate block that says so."""
    bare = report.replace(claims=propose(report), gate=None)
    first = judge(bare.replace(claims=tuple(claim.replace(status="admitted") for claim in bare.claims)))
    blocked = {claim.name: claim.withheld_by for claim in first.claims}
    settled = tuple(
        claim.replace(status="withheld" if blocked[claim.name] else "admitted", withheld_by=blocked[claim.name])
        for claim in bare.claims
    )
    final = judge(bare.replace(claims=settled))
    gate = GateBlock(rule_set=RULE_SET, verdict=final.verdict, violations=final.violations)
    return bare.replace(claims=settled, gate=gate)


def _judged(claim: BaseClaim, codes: tuple[str, ...]) -> JudgedClaim:
    asserted = claim.status != "withheld"
    status: Status = "admitted" if asserted and not codes else "withheld"
    metric = str(getattr(claim, "metric", ""))
    return JudgedClaim(name=claim.name, metric=metric, value=claim.value, status=status, withheld_by=codes)


def _apply(rule: Rule, case: Case) -> Iterator[_Fired]:
    metrics = {claim.name: getattr(claim, "metric", "") for claim in case.report.claims}
    touched = tuple(name for name, metric in metrics.items() if metric in rule.blocks)
    if rule.evidence is not None:
        check = rule.evidence
        for finding in _guarded(rule, lambda: check(case)):
            yield _Fired(rule, finding, touched)
    elif rule.claim is not None:
        yield from _apply_claim(rule, case, touched)


def _apply_claim(rule: Rule, case: Case, touched: tuple[str, ...]) -> Iterator[_Fired]:
    assert rule.claim is not None
    check = rule.claim
    merged: dict[Finding, list[str]] = {}
    for claim in case.report.claims:
        if claim.name in touched:
            for finding in _guarded(rule, lambda claim=claim: check(case, claim)):  # type: ignore[misc]
                merged.setdefault(finding, []).append(claim.name)
    for finding, names in merged.items():
        yield _Fired(rule, finding, tuple(names))


def _guarded(rule: Rule, run: Callable[[], Iterator[Finding]]) -> list[Finding]:
    try:
        return list(run())
    except Exception as error:  # a crash must not become an acquittal
        return [
            Finding(f"the rule itself failed ({type(error).__name__}: {error}); what cannot be judged is not admitted")
        ]


def _violation(hit: _Fired, named: tuple[str, ...]) -> Violation:
    finding = hit.finding
    return Violation(
        code=hit.rule.code,
        message=finding.message,
        claims=named,
        arm=finding.arm,
        sample=finding.sample,
        field=finding.field,
        found=finding.found,
        allowed=finding.allowed,
    )


def _verdict(severities: list[Severity], extra: tuple[Violation, ...]) -> Verdict:
    if "legacy" in severities:
        return "legacy"
    if "invalid" in severities:
        return "invalid"
    return "withheld" if severities or extra else "admissible"
