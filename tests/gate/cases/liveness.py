"""Cases of the rules about what really ran: flags, counts, blocks, engines."""

from collections.abc import Callable
from typing import Any

from reports.records.constants import NATIVE_BASELINE_LABEL
from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.cases.bases import IDENTITY, NGRAM, code, dflash, dropped, mode_of, native_baseline, niah, repeated
from tests.gate.edits import edit_arm, edit_first_row, edit_rows, set_first_row, set_rows
from tests.gate.rule_case import RuleCase, measured

FIRST = f"arms/{IDENTITY}/measurements/0.0"
DRAFTED = f"arms/{NGRAM}"
RESTORED = tuple(
    f"{DRAFTED}/measurements/*/{name}"
    for name in ("restoration_active", "restored_positions", "evicted_positions", "restoration_s", "e2e_s")
)


def drafted_less(report: Report) -> Report:
    """In the second repeat of the first prompt, the first block with drafts holds one less."""

    def edit(row: Measurement) -> Measurement:
        said = row.speculation
        assert said is not None
        rounds = list(said.rounds or ())
        place = next(n for n, one in enumerate(rounds) if one.drafted > one.accepted)
        rounds[place] = rounds[place].replace(drafted=rounds[place].drafted - 1)
        return row.replace(speculation=said.replace(rounds=tuple(rounds), drafted=(said.drafted or 0) - 1))

    return edit_rows(report, NGRAM, edit, where=lambda row: (row.sample, row.repeat) == (0, 1))


def billed_to_capture(report: Report) -> Report:
    return edit_first_row(report, NGRAM, lambda row: row.replace(aux_s=0.3, e2e_s=(row.e2e_s or 0.0) + 0.3))


def one_row_without(name: str, field: str) -> RuleCase:
    build = niah if name == IDENTITY else code
    place = f"arms/{name}/measurements/0.0/{field}"
    return measured(build, lambda report: set_first_row(report, name, **{field: None}), place)


def mixed(report: Report) -> Report:
    """One row of the restoring arm restored nothing."""

    def natively(row: Measurement) -> Measurement:
        e2e_s = (row.e2e_s or 0.0) - (row.restoration_s or 0.0)
        return row.replace(restoration_active=False, restored_positions=0, restoration_s=0.0, e2e_s=e2e_s)

    return edit_first_row(report, IDENTITY, natively)


def restoring(report: Report, edit: Callable[[Measurement], Measurement]) -> Report:
    """The drafting arm over a cache that restores by identity, its rows edited besides."""

    def live(row: Measurement) -> Measurement:
        moved, seconds = dropped(row), 0.5
        return edit(row).replace(
            restoration_active=True,
            restored_positions=moved,
            evicted_positions=moved,
            restoration_s=seconds,
            e2e_s=(row.e2e_s or 0.0) + seconds,
        )

    report = edit_rows(report, NGRAM, live)
    return edit_arm(report, NGRAM, lambda arm: arm.replace(restoration=mode_of(niah())))


def idle_blocks(report: Report) -> Report:
    """A fused arm over a restoring cache of which only the restoration ran."""
    idle = dict.fromkeys(("blocks", "drafted", "accepted"), 0) | dict.fromkeys(("committed", "rounds"))
    idle |= dict.fromkeys(("mean_accept_len", "draft_s", "verify_s", "extend_s", "rollback_s"), 0.0)
    return restoring(report, lambda row: row.replace(speculation=speculation_of(row).replace(**idle)))


def undrafted(report: Report) -> Report:
    """A fused arm over a restoring cache; one plain step a block, called a block all the same."""

    def plainly(row: Measurement) -> Measurement:
        said = speculation_of(row)
        assert said.rounds is not None
        assert row.decode_tokens is not None
        assert row.decode_s is not None
        seconds = row.decode_s / row.decode_tokens
        plain = dict.fromkeys(("drafted", "accepted"), 0) | dict.fromkeys(("draft_s", "extend_s", "rollback_s"), 0.0)
        one = said.rounds[0].replace(committed=1, seconds=seconds, verify_s=0.9 * seconds, **plain)
        rounds = tuple(one for _ in range(row.decode_tokens))
        totals = {"drafted": 0, "accepted": 0, "committed": len(rounds), "draft_s": 0.0, "extend_s": 0.0}
        totals |= {"rollback_s": 0.0, "verify_s": one.verify_s * len(rounds), "mean_accept_len": 1.0}
        return row.replace(speculation=said.replace(blocks=len(rounds), rounds=rounds, **totals))

    return restoring(report, plainly)


def projection_idle(report: Report) -> Report:
    """A drafting arm over a projected cache whose projection never ran."""
    report = edit_rows(report, NGRAM, lambda row: row.replace(evicted_positions=dropped(row)))
    return edit_arm(report, NGRAM, lambda arm: arm.replace(restoration=mode_of(niah())))


def speculation_of(row: Measurement) -> Any:
    assert row.speculation is not None
    return row.speculation


def edit_first_block(row: Measurement, edit: Callable[[Any], Any], *totals: str) -> Measurement:
    """The first block of a row edited, and these totals counted again."""
    said = speculation_of(row)
    rounds = (edit(said.rounds[0]), *said.rounds[1:])
    counted = {name: sum(getattr(block, name) for block in rounds) for name in totals}
    return row.replace(speculation=said.replace(rounds=rounds, **counted))


def block_short(row: Measurement) -> Measurement:
    return edit_first_block(row, lambda block: block.replace(committed=block.accepted + 3))


def fewer_drafts(row: Measurement) -> Measurement:
    """The drafts behind the first wrong one of a block, left out of the count."""
    return edit_first_block(row, lambda block: block.replace(drafted=block.accepted), "drafted")


def native_loop(report: Report) -> Report:
    """The incremental engine, said to decode with the loop of another."""
    report = set_rows(report, IDENTITY, decode_loop="native_step")
    return edit_arm(report, IDENTITY, lambda arm: arm.replace(decode_loop="native_step"))


def half_evicted(report: Report) -> Report:
    """A row that evicted and restored half of what its bounds make it evict."""
    half = dropped(next(arm for arm in report.arms if arm.name == IDENTITY).measurements[0]) // 2
    return set_first_row(report, IDENTITY, evicted_positions=half, restored_positions=half)


def labelled(name: str, label: str) -> Callable[[Report], Report]:
    return lambda report: edit_arm(report, name, lambda arm: arm.replace(system_under_test=label))


CASES: dict[str, RuleCase] = {
    "BLOCKS_VARY": measured(
        repeated,
        drafted_less,
        f"{DRAFTED}/measurements/0.1/speculation/drafted",
        f"{DRAFTED}/measurements/0.1/speculation/rounds",
    ),
    "CAPTURE_IDLE": measured(
        code, billed_to_capture, f"{DRAFTED}/measurements/0.0/aux_s", f"{DRAFTED}/measurements/0.0/e2e_s"
    ),
    "MISSING_STAGE_TIMINGS": one_row_without(IDENTITY, "e2e_s"),
    "MISSING_RESTORATION_FLAG": one_row_without(IDENTITY, "restoration_active"),
    "MISSING_LIVENESS": one_row_without(NGRAM, "fallbacks"),
    "MIXED_RESTORATION_PATHS": measured(
        niah,
        mixed,
        *(f"{FIRST}/{name}" for name in ("restoration_active", "restored_positions", "restoration_s", "e2e_s")),
    ),
    "RESTORATION_COUNTS": measured(
        niah,
        lambda report: set_first_row(report, "ablate", restored_positions=16740),
        "arms/ablate/measurements/0.0/restored_positions",
    ),
    "BASELINE_AS_SUT": measured(native_baseline, labelled("native", "k3 fused"), "arms/native/system_under_test"),
    "LABEL_CONTRADICTED": measured(
        niah, labelled(IDENTITY, NATIVE_BASELINE_LABEL), f"arms/{IDENTITY}/system_under_test"
    ),
    "FUSED_NEVER_RAN": measured(
        code, idle_blocks, f"{DRAFTED}/restoration", *RESTORED, f"{DRAFTED}/measurements/*/speculation"
    ),
    "PROPOSER_NEVER_RAN": measured(
        code, undrafted, f"{DRAFTED}/restoration", *RESTORED, f"{DRAFTED}/measurements/*/speculation"
    ),
    "FTHETA_NOT_RUN": measured(
        code, projection_idle, f"{DRAFTED}/restoration", f"{DRAFTED}/measurements/*/evicted_positions"
    ),
    "EVICTION_NEVER_RAN": measured(
        niah,
        lambda report: set_first_row(report, "ablate", evicted_positions=0),
        "arms/ablate/measurements/0.0/evicted_positions",
    ),
    "EVICTION_ARITHMETIC": measured(niah, half_evicted, f"{FIRST}/evicted_positions", f"{FIRST}/restored_positions"),
    "SILENT_FALLBACK": measured(
        code,
        lambda report: set_first_row(report, NGRAM, fallbacks=("rollback refused: plain steps",)),
        f"{DRAFTED}/measurements/0.0/fallbacks",
    ),
    "ENGINE_CONTRADICTED": measured(
        niah, native_loop, f"arms/{IDENTITY}/decode_loop", f"arms/{IDENTITY}/measurements/*/decode_loop"
    ),
    "BLOCK_ARITHMETIC": measured(
        code,
        lambda report: edit_first_row(report, NGRAM, block_short),
        f"{DRAFTED}/measurements/0.0/speculation/rounds",
    ),
    "DRAFTS_VARY": measured(
        dflash,
        lambda report: edit_first_row(report, "fused_dflash", fewer_drafts),
        "arms/fused_dflash/measurements/0.0/speculation/rounds",
        "arms/fused_dflash/measurements/0.0/speculation/drafted",
    ),
}
