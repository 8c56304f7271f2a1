"""The doctoring campaign: honest reports doctored by seed in every known way, alone and in pairs, and judged.

Fails if an honest report is refused, a rule crashes, or a doctored report that says more than its run gets through
without being listed in tests/gate/doctoring/survivors.py.
"""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gate.judging.judge import conclude, judge  # noqa: E402
from tests.gate.doctoring.bases import BASES, base  # noqa: E402
from tests.gate.doctoring.campaign import alone, cases  # noqa: E402
from tests.gate.doctoring.doctoring import all_doctorings  # noqa: E402
from tests.gate.doctoring.tally import Tally, told  # noqa: E402

SHOWN = 20


def refused(bases: int) -> list[int]:
    """Numbers of honest reports that break a rule."""
    return [number for number in range(bases) if judge(conclude(base(number).measured)).violations]


def gets_through(name: str) -> bool:
    """A listed doctoring, rare among the cases, that survives on some base."""
    kind = next(one for one in all_doctorings() if one.name == name)
    return any(outcome.survived for outcome in alone(kind, BASES))


def campaign(seed: int, count: int) -> Tally:
    """Run `count` cases, with a line on stderr every thousand."""
    tally = Tally()
    for outcome in cases(seed, count):
        tally.add(outcome)
        if tally.cases % 1000 == 0:
            print(f"{tally.cases} of {count} cases, {tally.caught} caught", file=sys.stderr)
    return tally


def main() -> None:
    """Doctor, judge, print; exit 1 if the gate was fooled in a way that is not known."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--cases", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    began = time.process_time()
    honest = refused(BASES)
    tally = campaign(chosen.seed, chosen.cases)
    survived = tally.survivors.total()
    print(f"{BASES} honest reports, {len(honest)} refused")
    print(f"{tally.cases} doctored reports in {len(all_doctorings())} ways, {time.process_time() - began:.0f} s of CPU")
    print(f"{tally.caught} caught, {tally.harmless} say nothing more, {survived} get through:")
    for title, number in tally.survivors.most_common():
        print(f"  {number:5}  {title}")
    print(f"rules that fired most: {', '.join(f'{code} {n}' for code, n in tally.codes.most_common(8))}")
    faults = [f"refused: base {number}" for number in honest]
    faults += [f"crashed: {told(outcome)}" for outcome in tally.crashed[:SHOWN]]
    faults += [f"not listed: {told(outcome)}" for outcome in tally.unlisted[:SHOWN]]
    faults += [f"listed, and always caught: {name}" for name in tally.unseen if not gets_through(name)]
    print("\n".join(faults) if faults else "every survivor is listed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
