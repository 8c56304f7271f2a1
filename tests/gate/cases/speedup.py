"""Cases of the rules about speed-ups: arms that can be compared, a design that can tell, noise that is told."""

from collections.abc import Callable

from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.cases.bases import NGRAM, approximating, drafting, judged, resized, several, throughput
from tests.gate.edits import edit_arm, edit_rows, said_otherwise, scale, set_plan, set_rows
from tests.gate.rule_case import RuleCase, measured, stated

SPEED = "decode_speedup/native"
E2E = "e2e_speedup/native"
TIMES = ("prefill_s", "decode_s", "e2e_s")


def times(arm: str, *names: str, row: str = "*") -> tuple[str, ...]:
    """The places of these times of an arm, and of the end-to-end time that they are part of."""
    return tuple(f"arms/{arm}/measurements/{row}/{name}" for name in (*names, "e2e_s"))


def other_loop(report: Report) -> Report:
    for name in ("oracle", "oracle_again"):
        report = set_rows(report, name, decode_loop="plain_step")
        report = edit_arm(report, name, lambda arm: arm.replace(decode_loop="plain_step"))
    return report


def same_loop(report: Report) -> Report:
    report = set_rows(report, "native", decode_loop="generate_step")
    return edit_arm(report, "native", lambda arm: arm.replace(engine="ar", decode_loop="generate_step"))


def noisy_null(report: Report) -> Report:
    """The oracle is 8 % slower than itself, whatever is asked: as much as the arm is slower than it."""
    return scale(report, "oracle_again", decode=1.095)


def order_decides(report: Report) -> Report:
    """Whoever runs second finds the machine slow."""
    oracle = next(arm for arm in report.arms if arm.name == "oracle")
    places = {(row.sample, row.repeat): row.order or 0 for row in oracle.measurements}
    return scale(report, "native", decode=1.2, where=lambda row: (row.order or 0) > places[row.sample, row.repeat])


def cold_start(report: Report) -> Report:
    return set_plan(scale(report, "oracle", decode=2.0, where=is_first_run), warmups=())


def is_first_run(row: Measurement) -> bool:
    """Sample 0, repeat 0."""
    return (row.sample, row.repeat) == (0, 0)


def is_first_prompt(row: Measurement) -> bool:
    """Sample 0, in any repeat."""
    return row.sample == 0


def astray(report: Report) -> Report:
    """The arm emits another token once, in every repeat of a prompt."""
    return said_otherwise(report, NGRAM, lambda said: (*said[:9], said[9] + 1, *said[10:]))


def stop_short(report: Report) -> Report:
    """The streams of the arm under test end at a stop token of their own, the oracle's at the budget."""
    return set_rows(report, "native", stop_reason="turn_end")


def one_factor(report: Report) -> Report:
    """The oracle again takes the oracle's times, a hundredth longer."""
    source = {(row.sample, row.repeat): row for row in report.arms[0].measurements}

    def edit(row: Measurement) -> Measurement:
        other = source[row.sample, row.repeat]
        return row.replace(**{name: round((getattr(other, name) or 0.0) * 1.01, 6) for name in TIMES})

    return edit_rows(report, "oracle_again", edit)


def halve_prefill(report: Report) -> Report:
    """One prefill time halved, the end-to-end time left as it was."""

    def half(row: Measurement) -> Measurement:
        return row.replace(prefill_s=(row.prefill_s or 0.0) / 2)

    return edit_rows(report, "oracle", half, where=is_first_run)


def without_decode_claim(report: Report) -> Report:
    return report.replace(claims=tuple(one for one in report.claims if one.name != SPEED))


def _speed(edit: Callable[[Report], Report], *places: str) -> RuleCase:
    return measured(throughput, edit, *places, claims=(SPEED,))


ROWS = "arms/*/measurements/*"
FEWER = ("plan/order", ROWS)

CASES: dict[str, RuleCase] = {
    "SPEEDUP_SELF_COMPARISON": _speed(
        same_loop, "arms/native/engine", "arms/native/decode_loop", "arms/native/measurements/*/decode_loop"
    ),
    "SPEEDUP_SAMPLES": _speed(
        resized(samples=4),
        "plan/samples",
        "workload",
        *FEWER,
        "arms/*/stream_audit/streams/4.0",
        "arms/*/stream_audit/streams/5.0",
    ),
    "SPEEDUP_GROUPS": _speed(resized(samples=5), "plan/samples", "workload", *FEWER, "arms/*/stream_audit/streams/5.0"),
    "SPEEDUP_REPEATS": _speed(resized(repeats=2), "plan/repeats", *FEWER),
    "SPEEDUP_PROCESSES": _speed(
        resized(repeats=2, processes=2), "plan/repeats", "plan/processes", "plan/order", "arms/*/measurements"
    ),
    "SPEEDUP_DECODE_TOKENS": _speed(
        resized(max_new_tokens=32),
        "plan/max_new_tokens",
        *(f"{ROWS}/{name}" for name in ("token_ids", "decode_tokens", "decode_s", "e2e_s")),
        "arms/*/stream_audit/streams/*/tokens_checked",
    ),
    "SPEEDUP_DRIFT": _speed(resized(drift=0.18), *(f"{ROWS}/{name}" for name in TIMES)),
    "SPEEDUP_DECODE_ONLY_MISSING": stated(
        lambda: judged(throughput(), E2E, SPEED), without_decode_claim, f"claims/{SPEED}"
    ),
    "SPEEDUP_PREFILL_LEFT_OUT": measured(
        drafting, lambda report: scale(report, NGRAM, prefill=4.0), *times(NGRAM, "prefill_s"),
        claims=(f"decode_speedup/{NGRAM}",),
    ),
    "SPEEDUP_LOSSY": measured(
        approximating, astray,
        f"arms/{NGRAM}/measurements/0.*/token_ids", f"arms/{NGRAM}/stream_audit/streams/0.0/mismatches",
        claims=(f"decode_speedup/{NGRAM}",),
    ),
    "SPEEDUP_SCOPE_MISMATCH": _speed(
        lambda report: edit_arm(report, "native", lambda arm: arm.replace(timing_scope=None)),
        "arms/native/timing_scope",
    ),
    "SPEEDUP_ORACLE_LOOP": _speed(
        other_loop, "arms/oracle*/decode_loop", "arms/oracle*/measurements/*/decode_loop"
    ),
    "SPEEDUP_PREFILL_VARIANCE": _speed(
        lambda report: scale(report, "oracle", prefill=4.0, where=is_first_prompt),
        *times("oracle", "prefill_s", row="0.*"),
    ),
    "SPEEDUP_INTERVAL": _speed(
        lambda report: scale(report, "native", decode=0.8, where=is_first_prompt),
        *times("native", "decode_s", row="0.*"),
    ),
    "SPEEDUP_NULL_BAND": _speed(noisy_null, *times("oracle_again", "decode_s")),
    "SPEEDUP_ORDER": _speed(order_decides, *times("native", "decode_s")),
    "SPEEDUP_WARMUP": _speed(cold_start, "plan/warmups", *times("oracle", "decode_s", row="0.0")),
    "EARLY_STOP": _speed(stop_short, "arms/native/measurements/*/stop_reason"),
    "STAGE_ARITHMETIC": measured(several, halve_prefill, "arms/oracle/measurements/0.0/prefill_s"),
    "TIMES_WITHOUT_NOISE": measured(several, one_factor, *times("oracle_again", "prefill_s", "decode_s")),
}  # fmt: skip
