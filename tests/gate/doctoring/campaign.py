"""The campaign: honest reports doctored by seed, alone and in pairs, each judged as edited and concluded anew."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gate.judging.judge import conclude, judge
from gate.judging.judge_evidence import judge_evidence
from reports.reading.reader import evidence_of
from reports.records.verdict import Verdict, Violation
from reports.report import Report
from tests.gate.doctoring.bases import BASES, base
from tests.gate.doctoring.doctoring import Doctoring, all_doctorings
from tests.gate.doctoring.truth import Truth, truth_of

PAIRS = 0.4
"""Share of the cases with two doctorings on top of each other."""

NOTHING_TO_DO = (AssertionError, AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError,
                 ZeroDivisionError)  # fmt: skip
"""How one of two editors stumbles over what the other one left."""

CRASHED = "the rule itself failed"


@dataclass(frozen=True)
class Judged:
    """How one form of a doctored report was judged; `untrue` are headlines it may print and must not."""

    verdict: Verdict
    codes: tuple[str, ...]
    untrue: tuple[str, ...]
    crashed: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """A doctored report.

    `edited` is about the file as the editor left it; `concluded` about the one whose claims and gate block were
    derived again from the doctored rows, so that they agree (none where the text is no report any more).
    """

    base: int
    doctorings: tuple[str, ...]
    edited: Judged
    concluded: Judged | None

    @property
    def judged(self) -> tuple[Judged, ...]:
        """Both forms."""
        return (self.edited, self.concluded) if self.concluded is not None else (self.edited,)

    @property
    def survived(self) -> bool:
        """A headline may be printed that the run does not carry."""
        return any(one.untrue for one in self.judged)

    @property
    def crashed(self) -> bool:
        """A rule did not survive the report."""
        return any(one.crashed for one in self.judged)

    @property
    def caught(self) -> bool:
        """Nothing untrue may be printed, and a rule was broken."""
        return not self.survived and any(one.codes for one in self.judged)


def run_case(number: int, chosen: tuple[Doctoring, ...], rng: random.Random) -> Outcome | None:
    """Doctor one base; none if a doctoring finds nothing to do there."""
    truth = truth_about(number, tuple(one.name for one in chosen if one.truth is not None))
    doctored = _edited(truth.report, chosen, rng) if truth is not None else None
    if truth is None or doctored is None:
        return None
    names = tuple(one.name for one in chosen)
    document = next((one.document for one in chosen if one.document is not None), None)
    if document is not None:
        return Outcome(number, names, _judge_text(truth, document(_document(doctored), rng)), None)
    return Outcome(number, names, _judge(truth, doctored), _judge(truth, conclude(doctored)))


def _judge(truth: Truth, doctored: Report) -> Judged:
    judgement = judge(doctored)
    codes, crashed = _broken(judgement.violations)
    untrue = truth.untrue(doctored, judgement.verdict, judgement.headlines)
    return Judged(judgement.verdict, codes, untrue, crashed)


def _judge_text(truth: Truth, data: bytes) -> Judged:
    evidence = evidence_of(data, Path("doctored.json"))
    file, report = judge_evidence(evidence), evidence.report
    untrue = truth.untrue(report, file.verdict, file.headlines) if report is not None else ()
    codes, crashed = _broken(file.violations)
    return Judged(file.verdict, codes, untrue, crashed)


def _broken(violations: Iterable[Violation]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Codes of the violations, and of those whose rule did not survive the report."""
    found = tuple(violations)
    return tuple(one.code for one in found), tuple(one.code for one in found if CRASHED in one.message)


def _document(report: Report) -> dict[str, object]:
    return report.model_dump(mode="json", exclude_none=True)


def _edited(report: Report, chosen: tuple[Doctoring, ...], rng: random.Random) -> Report | None:
    """The edits, one after the other; one may find that the other, or its flaw, took away what it is about."""
    edited: Report | None = report
    for one in chosen:
        if one.edit is None or edited is None:
            continue
        try:
            edited = one.edit(edited, rng)
        except NOTHING_TO_DO:
            if len(chosen) == 1:
                raise
            return None
    return edited


@cache
def truth_about(number: int, hiding: tuple[str, ...]) -> Truth | None:
    """The truth of a base with the flaws that these doctorings hide; none if it cannot have one of them."""
    report: Report | None = base(number).measured
    by_name = {one.name: one for one in all_doctorings()}
    for name in hiding:
        flaw = by_name[name].truth
        try:
            report = flaw(report) if flaw is not None and report is not None else report
        except NOTHING_TO_DO:
            if len(hiding) == 1:
                raise
            return None
    return truth_of(report) if report is not None else None


def alone(one: Doctoring, count: int, *, seed: int = 0, bases: int = BASES) -> Iterator[Outcome]:
    """Up to `count` reports doctored in this one way, each base at most once, in an order of the seed."""
    rng = random.Random(f"{one.name}/{seed}")
    for number in rng.sample(range(bases), bases):
        outcome = run_case(number, (one,), rng)
        if outcome is not None:
            yield outcome
            count -= 1
        if count <= 0:
            return


def cases(seed: int, count: int, *, pairs: float = PAIRS, bases: int = BASES) -> Iterator[Outcome]:
    """`count` doctored reports. Kinds of doctoring take turns, so that each has its share."""
    rng = random.Random(f"doctoring/{seed}")
    kinds = all_doctorings()
    for turn in range(count):
        outcome = None
        while outcome is None:
            chosen = _chosen(kinds, kinds[turn % len(kinds)], rng, pairs)
            outcome = run_case(rng.randrange(bases), chosen, rng)
        yield outcome


def _chosen(kinds: tuple[Doctoring, ...], first: Doctoring, rng: random.Random, pairs: float) -> tuple[Doctoring, ...]:
    """One kind, or two; what is done to the text of the file comes last."""
    if rng.random() >= pairs:
        return (first,)
    second = rng.choice([one for one in kinds if one is not first and (first.document is None or one.edit is not None)])
    return (second, first) if first.document is not None else (first, second)
