"""What came of a campaign: how many were caught and by which rules, who got through, and whether that was known."""

from collections import Counter
from dataclasses import dataclass, field

from tests.gate.doctoring.campaign import Outcome
from tests.gate.doctoring.survivors import SURVIVORS


@dataclass
class Tally:
    """Counts over outcomes. `harmless` ones changed nothing that may be said, and broke no rule."""

    cases: int = 0
    caught: int = 0
    harmless: int = 0
    survivors: Counter[str] = field(default_factory=Counter)
    unlisted: list[Outcome] = field(default_factory=list)
    crashed: list[Outcome] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)

    def add(self, outcome: Outcome) -> None:
        """Count one outcome."""
        self.cases += 1
        self.kinds.update(outcome.doctorings)
        self.codes.update({code for one in outcome.judged for code in one.codes})
        if outcome.crashed:
            self.crashed.append(outcome)
        if outcome.survived:
            self._survived(outcome)
        elif outcome.caught:
            self.caught += 1
        else:
            self.harmless += 1

    def _survived(self, outcome: Outcome) -> None:
        listed = [name for name in outcome.doctorings if name in SURVIVORS]
        self.survivors[SURVIVORS[listed[0]].title if listed else "unlisted"] += 1
        if not listed:
            self.unlisted.append(outcome)
        if len(outcome.doctorings) == 1:
            self.seen.update(outcome.doctorings)

    @property
    def unseen(self) -> list[str]:
        """Listed survivors of which no case got through alone."""
        return sorted(set(SURVIVORS) - self.seen)


def told(outcome: Outcome) -> str:
    """One line about an outcome: what was done to which base, and what may be printed of it."""
    done = " + ".join(outcome.doctorings)
    judged = "; ".join(
        f"{name}: {one.verdict}, {', '.join(one.codes) or 'no violation'}, untrue: {', '.join(one.untrue) or 'nothing'}"
        for name, one in zip(("edited", "concluded"), outcome.judged, strict=False)
    )
    return f"{done} (base {outcome.base}): {judged}"
