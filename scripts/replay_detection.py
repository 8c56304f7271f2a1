"""`replay_detection.py FOLDER TIMES`: which doctored reports a replay of ten rows finds, and which share chance would.

FOLDER holds reports and a complete replay of each (`k3 replay NAME.json --rows 10000`): what this machine makes of
every prompt in every arm. Reports are doctored in ways that get through the gate; drawn rows are looked up.
"""

import random
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import comb
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gate.figures.replay.confirmed import Disagreement, disagreements  # noqa: E402
from gate.rulebook.report_view import ReportView  # noqa: E402
from harness.base.errors import K3Error  # noqa: E402
from harness.replay.plan_again import plan_again  # noqa: E402
from harness.replay.request import ReplayRequest  # noqa: E402
from reports.content_digest import content_digest  # noqa: E402
from reports.records.conduct.replay import ReplayedFact  # noqa: E402
from reports.records.measurement import Measurement  # noqa: E402
from reports.replays.draw import Drawn, draw  # noqa: E402
from reports.replays.facts import facts_of  # noqa: E402
from reports.replays.population import audit_key, audits_of, population, rows_of  # noqa: E402
from reports.report import Report, load_report  # noqa: E402
from tests.gate.doctoring.campaign import NOTHING_TO_DO  # noqa: E402
from tests.gate.doctoring.doctoring import Doctoring, all_doctorings  # noqa: E402
from tests.gate.doctoring.survivors import SURVIVORS  # noqa: E402

REASONS = ("the streams are the model's", "what was counted happened", "names and digests are true", "tensors were")
ROWS = 10


def replay_of(doctored: Report, whole: Report, drawn: Sequence[Drawn]) -> list[Disagreement]:
    """What a replay on this machine would find, looked up in the complete one of the honest report."""
    assert whole.replay is not None
    here = {(row.arm, row.original.sample): row for row in whole.replay.rows}
    made = {fact.field: fact.replayed for fact in whole.replay.facts}
    rows, of_arm, audits = [], rows_of(doctored), audits_of(doctored)
    for arm, place, _ in drawn:
        own, known = of_arm[arm][place], here.get((arm, of_arm[arm][place].sample))
        found, audit = (known.replayed, known.audit) if known is not None else (None, None)
        if isinstance(own, Measurement) and isinstance(found, Measurement):
            audit = audit if own.token_ids == found.token_ids else None
            found = found.replace(repeat=own.repeat, process=own.process)
        row = whole.replay.rows[0].replace(arm=arm, place=place, original=own, replayed=found, audit=audit)
        rows.append(row.replace(original_audit=audits.get(audit_key(arm, own))))
    told = facts_of(doctored).items()
    facts = tuple(ReplayedFact(field=field, original=text, replayed=made.get(field)) for field, text in told)
    return disagreements(ReportView(whole.replace(replay=whole.replay.replace(rows=tuple(rows), facts=facts))))


def outcome_of(doctored: Report, whole: Report, seed: int) -> tuple[str, float]:
    """`refused`, `rows`, `setting` (alone) or `missed`; and the chance that ten random rows hold a false one."""
    digest, arms = content_digest(doctored), population(doctored)
    try:
        plan_again(ReplayRequest(doctored, digest, ROWS, seed))
    except K3Error:
        return "refused", 0.0
    every = [Drawn(one.arm, place, True) for one in arms for place in range(one.rows)]
    false = sum(", row " in one.where for one in replay_of(doctored, whole, every))
    chance = 1 - comb(len(every) - false, ROWS) / comb(len(every), ROWS) if len(every) > ROWS else float(false > 0)
    found = {", row " in one.where for one in replay_of(doctored, whole, draw(digest, seed, ROWS, arms))}
    return "rows" if True in found else "setting" if found else "missed", chance


def doctored_by(one: Doctoring, report: Report, turn: int) -> Report | None:
    """The report edited; none where there is nothing to do, or nothing came of it."""
    try:
        edited = one.edit(report, random.Random(f"{one.name}/{turn}")) if one.edit is not None else None
    except NOTHING_TO_DO:
        return None
    return edited if edited is not None and content_digest(edited) != content_digest(report) else None


def main(folder: Path, times: int) -> None:
    """Doctor every report `times` times in every way, draw, look up, print a table."""
    wholes = sorted(folder.glob("*-replay-1.json"))
    pairs = [(load_report(path.with_name(path.name.replace("-replay-1", ""))), load_report(path)) for path in wholes]
    print("| a file cannot tell whether | reports | refused | rows | setting | missed | by rows | predicted |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for words in REASONS:
        kinds = [one for one in all_doctorings() if one.name in SURVIVORS and words in SURVIVORS[one.name].title]
        cases = product(kinds, pairs, range(times))
        edits = [(doctored_by(one, report, turn), whole, turn) for one, (report, whole), turn in cases]
        found = [outcome_of(doctored, whole, turn) for doctored, whole, turn in edits if doctored is not None]
        counts, false = Counter(how for how, _ in found), [(how == "rows", chance) for how, chance in found if chance]
        told = " | ".join(str(counts[how]) for how in ("refused", "rows", "setting", "missed"))
        by_rows, chance = (100 * sum(part) / max(len(false), 1) for part in zip(*false, (False, 0.0), strict=True))
        shares = f"{by_rows:.0f} % of {len(false)} | {chance:.0f} %"
        print(f"| {words} | {len(found)} | {told} | {shares} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
