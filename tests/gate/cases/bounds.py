"""Cases of the rules about speed-ups that cannot be: faster than the work allows."""

from collections.abc import Callable
from typing import Any

from reports.records.measurement import BlockRecord, Measurement
from reports.report import Report
from tests.gate.cases.bases import NGRAM, code, drafting, throughput
from tests.gate.cases.speedup import E2E, SPEED, times
from tests.gate.edits import edit_rows, scale
from tests.gate.rule_case import RuleCase, measured

DRAFTED = f"decode_speedup/{NGRAM}"
SPOKEN = f"arms/{NGRAM}/measurements/*/speculation"


def halve_decode(name: str) -> Callable[[Report], Report]:
    """All decode times of an arm divided by two, and the end-to-end times made to fit."""
    return lambda report: scale(report, name, decode=0.5)


def third_of_prefill(report: Report) -> Report:
    """The native loop reads its prompts three times as fast as the oracle reads the same ones."""
    return scale(report, "native", prefill=1 / 3)


def edit_blocks(row: Measurement, edit: Callable[[BlockRecord], BlockRecord], *totals: str) -> Any:
    """The speculation of a row, its blocks edited and these totals summed again."""
    said = row.speculation
    assert said is not None
    assert said.rounds is not None
    rounds = tuple(edit(block) for block in said.rounds)
    return said.replace(rounds=rounds, **{name: round(sum(getattr(one, name) for one in rounds), 6) for name in totals})


def too_fast(report: Report) -> Report:
    """Every block of the drafting arm in a quarter of its time, next to all of it verification."""

    def quarter(row: Measurement) -> Measurement:
        said = edit_blocks(row, _quarter_of, "draft_s", "verify_s", "extend_s", "rollback_s")
        seconds = round(sum(block.seconds for block in said.rounds), 6)
        e2e_s = (row.e2e_s or 0.0) - (row.decode_s or 0.0) + seconds
        return row.replace(decode_s=seconds, e2e_s=e2e_s, speculation=said)

    return edit_rows(report, NGRAM, quarter)


def _quarter_of(block: BlockRecord) -> BlockRecord:
    seconds = round(block.seconds * 0.272, 5)
    stages = {"draft_s": 0.02, "verify_s": 0.96, "extend_s": 0.01, "rollback_s": 0.01}
    return block.replace(seconds=seconds, **{name: round(seconds * share, 6) for name, share in stages.items()})


def cut_verification(row: Measurement) -> Measurement:
    """Blocks whose verification is billed to drafting."""

    def edit(block: BlockRecord) -> BlockRecord:
        moved = block.verify_s / 4 * 3
        return block.replace(verify_s=block.verify_s / 4, draft_s=block.draft_s + moved)

    return row.replace(speculation=edit_blocks(row, edit, "verify_s", "draft_s"))


CASES: dict[str, RuleCase] = {
    "NULL_RATIO_OFF": measured(
        code, halve_decode("oracle_again"), *times("oracle_again", "decode_s"), claims=("null_ratio/oracle_again",)
    ),
    "SPEEDUP_SAME_WORK": measured(throughput, halve_decode("native"), *times("native", "decode_s"), claims=(SPEED,)),
    "SPEEDUP_PREFILL_UNEQUAL": measured(
        throughput, third_of_prefill, *times("native", "prefill_s"), claims=(SPEED, E2E)
    ),
    "SPEEDUP_OVER_ACCEPTANCE": measured(drafting, too_fast, SPOKEN, *times(NGRAM, "decode_s"), claims=(DRAFTED,)),
    "SPEEDUP_VERIFY_FAST": measured(
        drafting,
        lambda report: edit_rows(report, NGRAM, cut_verification),
        *(f"{SPOKEN}/{name}" for name in ("rounds", "verify_s", "draft_s")),
        claims=(DRAFTED,),
    ),
}
