"""Whether what a doctored report may print is true of the run that it was made from."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from gate.claims.propose import with_figures
from gate.claims.recompute import recompute
from gate.judging.judge import conclude, judge
from gate.rulebook.report_view import ReportView
from reports.records.claims import BaseClaim, Claim
from reports.records.verdict import Verdict
from reports.report import Report

VALUE_TOLERANCE = 0.01
"""Relative distance within which a headline still says what the run showed."""

INTERVAL_TOLERANCE = 0.02
"""The same for the ends of its interval; a wider interval says less, and is true too."""

_WORDS = ("metric", "unit", "arm", "baseline", "control", "basis", "denominator")


@dataclass(frozen=True)
class Truth:
    """What was really measured, concluded, with the claims that the gate admits of it."""

    report: Report
    _admitted: dict[str, Claim | None] = field(default_factory=dict, repr=False)

    @cached_property
    def _view(self) -> ReportView:
        return ReportView(self.report)

    @cached_property
    def headlines(self) -> dict[str, Claim]:
        """The headlines of the run itself."""
        return {claim.name: claim for claim in _claims(judge(self.report).headlines)}

    def untrue(self, doctored: Report, verdict: Verdict, headlines: Iterable[object]) -> tuple[str, ...]:
        """Names of the headlines that a doctored report may print and the run does not carry.

        Where the doctored report breaks a rule, whoever reads it is warned; what it prints all the same must have the
        figures of the run, and need not be all that the run admits.
        """
        warned = verdict != "admissible"
        return tuple(c.name for c in _claims(headlines) if not self._carries(c, doctored, warned=warned))

    def _carries(self, claim: Claim, doctored: Report, *, warned: bool) -> bool:
        if not warned and _described(doctored, claim.arm) != _described(self.report, claim.arm):
            return False
        own = self.headlines.get(claim.name)
        if own is None or _words(own) != _words(claim):
            own = self._derived(claim) if warned else self._grafted(claim)
        return own is not None and _says_no_more(claim, own)

    def _derived(self, claim: Claim) -> Claim | None:
        """The claim with the figures that the run gives it."""
        figures = recompute(self._view, claim)
        return with_figures(claim, figures) if figures is not None else None

    def _grafted(self, claim: Claim) -> Claim | None:
        """The claim as the run would carry it, had its author thought of it; none if the gate refuses it there."""
        key = claim.model_dump_json()
        if key not in self._admitted:
            own = self._derived(claim)
            others = tuple(one for one in self.report.claims if one.name != claim.name)
            found = ()
            if own is not None:
                found = judge(self.report.replace(claims=(*others, own), gate=None)).headlines
            self._admitted[key] = next((one for one in _claims(found) if one.name == claim.name), None)
        return self._admitted[key]


def truth_of(measured: Report) -> Truth:
    """The truth about a run, from its rows."""
    return Truth(conclude(measured))


def _described(report: Report, name: str) -> object:
    """What ran under this name, by which plan: code, machine, model, engine, what it restores and who drafts."""
    origin, plan = report.provenance, report.plan
    models = origin.models if origin is not None else ()
    verifier = [(m.id, m.weights, m.architecture, m.dtype) for m in models if m.role == "verifier"]
    arm = next((arm for arm in report.arms if arm.name == name), None)
    run = (origin.source, origin.host) if origin is not None else None
    planned = (report.preset, plan.digest if plan is not None else None)
    return run, planned, verifier, (arm.engine, arm.restoration, arm.drafter) if arm is not None else None


def _claims(headlines: Iterable[object]) -> Iterator[Claim]:
    for headline in headlines:
        yield headline.claim  # type: ignore[attr-defined]


def _words(claim: BaseClaim) -> dict[str, object]:
    """What a claim is about, apart from its figures."""
    return {name: getattr(claim, name, None) for name in _WORDS}


def _says_no_more(claim: Claim, own: Claim) -> bool:
    """The claim has the value that the run gives, in an interval that is not narrower."""
    if not _near(claim.value, own.value, VALUE_TOLERANCE):
        return False
    if own.interval is None or claim.interval is None:
        return own.interval is claim.interval
    slack = INTERVAL_TOLERANCE
    low = claim.interval.low <= own.interval.low + slack * abs(own.interval.low)
    return low and claim.interval.high >= own.interval.high - slack * abs(own.interval.high)


def _near(ours: float, theirs: float, tolerance: float) -> bool:
    return abs(ours - theirs) <= tolerance * max(abs(ours), abs(theirs)) + 1e-12
