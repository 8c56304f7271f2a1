"""One judged file: what every output format prints of it. Small, so that thousands can be kept."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gate.judging.judge import NOTHING_SAID, Headline, JudgedClaim
from gate.judging.reasons import Reason
from gate.rules.claims.selected_run import RUN_SELECTED
from gate.rules.files.refused import LEGACY_SCHEMA
from reports.records.provenance import EarlierRun
from reports.records.verdict import Verdict, Violation

WARNINGS = frozenset({LEGACY_SCHEMA.code})
"""Codes that are reported and fail no build when they stand alone."""


@dataclass(frozen=True)
class JudgedFile:
    """A file, what it was taken for, and what may be said of it.

    `source` is `k3`, the name of an importer, or none where that cannot be told; `opened` is false when the file
    system did not hand the file over, so that nothing could be judged. `reason` says why a file is taken for no
    report, or what one of another tool lacks. `machine` says how busy and hot the machine was, and `busy`
    that it was too busy for its times, as `gate.judging.machine` words it. `unseen` are the earlier runs of its plan
    whose reports are not shown with it.
    """

    path: str
    source: str | None
    kind: str | None
    schema_version: int | None
    verdict: Verdict
    violations: tuple[Violation, ...] = ()
    claims: tuple[JudgedClaim, ...] = ()
    reasons: tuple[Reason, ...] = ()
    headlines: tuple[Headline, ...] = ()
    opened: bool = True
    reason: str | None = None
    machine: str | None = None
    busy: str | None = None
    unseen: tuple[EarlierRun, ...] = ()

    @property
    def state(self) -> str:
        """The verdict, or `unreadable` for a file that could not be opened."""
        return self.verdict.replace("_", " ") if self.opened else "unreadable"

    @property
    def withheld(self) -> tuple[JudgedClaim, ...]:
        """The claims that may not be printed. One that is admitted and no headline says nothing of a system (the oracle
        against itself, a codec that is worth nothing): it is not withheld, either."""
        silent = self.verdict in NOTHING_SAID
        return tuple(claim for claim in self.claims if silent or claim.status == "withheld")

    def barred(self, violation: Violation) -> "JudgedFile":
        """The same with a violation from outside its rows, which stands in the way of all of its claims."""
        claims = tuple(
            claim.replace(status="withheld", withheld_by=tuple(sorted({*claim.withheld_by, violation.code})))
            for claim in self.claims
        )
        verdict = "withheld" if self.verdict == "admissible" else self.verdict
        violations = (*self.violations, violation.replace(claims=tuple(claim.name for claim in claims)))
        return replace(self, verdict=verdict, violations=violations, claims=claims, headlines=())

    @property
    def as_own(self) -> "JudgedFile":
        """The same for who ran it just now: that earlier reports of its plan are elsewhere withholds its claims still,
        and is no fault of the run."""
        others = tuple(violation for violation in self.violations if violation.code != RUN_SELECTED.code)
        alone = self.verdict == "withheld" and not others
        return replace(self, verdict="admissible" if alone else self.verdict, violations=others)

    @property
    def fails(self) -> bool:
        """It was judged and breaks a rule that is more than a warning."""
        return self.opened and any(violation.code not in WARNINGS for violation in self.violations)


def exit_code(files: Iterable[JudgedFile]) -> int:
    """2 if any file breaks a rule, else 3 if any could not be opened, else 0."""
    judged = tuple(files)
    if any(file.fails for file in judged):
        return 2
    return 0 if all(file.opened for file in judged) else 3


def tally(files: Iterable[JudgedFile]) -> str:
    """How many files there are, by state: `3 files: 1 admissible, 2 withheld`."""
    counts: dict[str, int] = {}
    for file in files:
        counts[file.state] = counts.get(file.state, 0) + 1
    total = sum(counts.values())
    parts = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
    return f"{total} file{'s' if total != 1 else ''}{': ' if parts else ''}{parts}"
