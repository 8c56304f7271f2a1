"""Cases of the rules about the plan: its prompts, its rows and their order."""

from datetime import timedelta

from gate.rulebook.report_view import row_key
from reports.records.measurement import Arm, Pause, PausedRow
from reports.records.plan import PromptRecord, Resume, prompts_digest
from reports.report import Report
from tests.gate.cases.bases import (
    IDENTITY,
    NGRAM,
    code,
    looked,
    niah,
    niah_of_five,
    of_a_shipped_preset,
    throughput,
    warmed,
    watched,
)
from tests.gate.edits import edit_arm, edit_rows, only_runs, set_first_row, set_plan, set_rows
from tests.gate.rule_case import RuleCase, measured

RECALL = f"restoration_recall/{IDENTITY}"
TIMES = ("prefill_s", "decode_s", "e2e_s")


def drop_a_repeat(report: Report) -> Report:
    """The control never ran on the first prompt."""
    return only_runs(report, lambda run: (run.arm, run.sample) != ("ablate", 0))


def swap_orders(report: Report) -> Report:
    assert report.plan is not None
    order = report.plan.order or ()
    return set_plan(report, order=(order[1], order[0], *order[2:]))


def one_after_the_other(report: Report) -> Report:
    """The same rows, numbered as if all of one arm had run before the next."""
    assert report.plan is not None
    order = sorted(report.plan.order or (), key=lambda run: (run.arm, run.sample, run.repeat))
    places = {(run.arm, run.sample, run.repeat): place for place, run in enumerate(order)}
    for arm in report.arms:
        name = arm.name
        report = edit_rows(report, name, lambda row, name=name: row.replace(order=places[name, row.sample, row.repeat]))
    return set_plan(report, order=tuple(order))


def set_aside(report: Report, asleep_s: float) -> Report:
    """The oracle's first row stands twice: as it is, and as a slow one that a pause broke."""

    def with_paused(arm: Arm) -> Arm:
        slow = arm.measurements[0].replace(decode_s=30.0)
        return arm.replace(paused=(PausedRow(row=slow, pause=Pause(asleep_s=asleep_s, stops=0)),))

    return edit_arm(report, "oracle", with_paused)


def niah_with_a_pause() -> Report:
    return set_aside(niah(), asleep_s=30.0)


def copy_times(report: Report) -> Report:
    source = next(arm for arm in report.arms if arm.name == "oracle").measurements[0]
    return set_first_row(report, "oracle_again", **{name: getattr(source, name) for name in TIMES})


def edit_first_prompt(report: Report, **changes: object) -> Report:
    """`report` with fields of the first prompt of its main set changed."""
    assert report.workload is not None
    prompts = tuple(
        prompt.replace(**changes) if (prompt.sample, prompt.prompt_set) == (0, "main") else prompt
        for prompt in report.workload.prompts
    )
    return report.replace(workload=report.workload.replace(prompts=prompts))


def same_prompt_twice(report: Report) -> Report:
    """Sample 1 asks what sample 0 asked, everywhere, and the digest is of that."""
    assert report.workload is not None
    first = report.workload.prompts[0]
    asked = {"digest": first.digest, "token_count": first.token_count}
    prompts = tuple(prompt.replace(**asked) for prompt in report.workload.prompts)
    workload = report.workload.replace(prompts=prompts)
    report = report.replace(workload=workload.replace(digest=prompts_digest(workload.prompts)))
    for arm in report.arms:
        held = {name: getattr(arm.measurements[0], name) for name in ("kv_bytes_prefill", "kv_bytes_decode")}
        report = set_rows(report, arm.name, prompt_digest=first.digest, prompt_tokens=first.token_count, **held)
    return report


def needle_in_window(report: Report) -> Report:
    """The first needle, within the window of the question."""
    assert report.workload is not None
    prompt: PromptRecord = report.workload.prompts[0]
    assert prompt.question_first is not None
    first = prompt.question_first - 40
    depth = first / (prompt.token_count or 1)
    return edit_first_prompt(report, needle_first=first, needle_last=first + 12, needle_depth=depth)


def stale_digest(report: Report) -> Report:
    assert report.workload is not None
    return report.replace(workload=report.workload.replace(digest="sha256:" + "0" * 64))


def preset(report: Report, **changes: object) -> Report:
    assert report.preset is not None
    return report.replace(preset=report.preset.replace(**changes))


def inside_every_pair(report: Report) -> tuple[Resume, ...]:
    """Later each time, between the first run of a round and the others."""
    assert report.plan is not None
    assert report.created_at is not None
    places = range(1, len(report.plan.order or ()), len(report.arms))
    return tuple(Resume(order=place, at=report.created_at + timedelta(seconds=n + 1)) for n, place in enumerate(places))


def first_look_hidden(report: Report) -> Report:
    assert report.plan is not None
    assert report.plan.stopping is not None
    return set_plan(report, stopping=report.plan.stopping.replace(looks=report.plan.stopping.looks[1:]))


def asked_for_more(report: Report) -> Report:
    assert report.preset is not None
    return report.replace(preset=report.preset.replace(overrides=("samples=500",)))


def with_digits(report: Report) -> Report:
    """A time that was multiplied by hand, and not rounded."""
    return edit_rows(
        report,
        "oracle",
        lambda row: row.replace(prefill_s=(row.prefill_s or 0.0) * (1 + 1e-12)),
        where=lambda row: row_key(row) == (0, 0, 0),
    )


CASES: dict[str, RuleCase] = {
    "RUN_INCOMPLETE": measured(
        niah,
        drop_a_repeat,
        "plan/order",
        "arms/*/measurements/*/order",
        "arms/ablate/measurements/0.0",
        "arms/ablate/stream_audit/streams/0.0",
    ),
    "RUN_ORDER": measured(niah, swap_orders, "plan/order"),
    "PAUSED_ROWS": measured(niah_with_a_pause, lambda report: set_aside(report, asleep_s=0.0), "arms/oracle/paused"),
    "ARMS_NOT_INTERLEAVED": measured(
        code, one_after_the_other, "plan/order", "arms/*/measurements/*/order", claims=("null_ratio/oracle_again",)
    ),
    "DUPLICATE_RECORDS": measured(
        niah,
        lambda report: edit_arm(report, "oracle_again", lambda arm: arm.replace(role="oracle")),
        "arms/oracle_again/role",
    ),
    "COPIED_ROWS": measured(niah, copy_times, *(f"arms/oracle_again/measurements/0.0/{name}" for name in TIMES)),
    "PROMPT_MISMATCH": measured(
        code,
        lambda report: set_first_row(report, NGRAM, prompt_tokens=555),
        f"arms/{NGRAM}/measurements/0.0/prompt_tokens",
    ),
    "PROMPT_REPEATED": measured(
        code,
        same_prompt_twice,
        "workload/digest",
        "workload/prompts/main.1",
        *(f"arms/*/measurements/1.0/{name}" for name in ("prompt_digest", "prompt_tokens")),
        "arms/*/measurements/1.0/kv_bytes_*",
    ),
    "WORKLOAD_DIGEST": measured(niah, stale_digest, "workload/digest"),
    "NEEDLE_EXPOSED": measured(
        niah_of_five,
        needle_in_window,
        *(f"workload/prompts/main.0/needle_{name}" for name in ("first", "last", "depth")),
        claims=(RECALL,),
    ),
    "NEEDLE_ARITHMETIC": measured(
        niah, lambda report: edit_first_prompt(report, needle_depth=0.99), "workload/prompts/main.0/needle_depth"
    ),
    "PRESET_UNKNOWN": measured(
        of_a_shipped_preset, lambda report: preset(report, digest="sha256:" + "5" * 64), "preset/digest"
    ),
    "PRESET_DEPARTED": measured(
        of_a_shipped_preset, lambda report: preset(report, overrides=("seed=0", "processes=1")), "preset/overrides"
    ),
    "PAIRS_TORN": measured(
        throughput,
        lambda report: set_plan(report, resumes=inside_every_pair(report)),
        "plan/resumes",
        claims=("null_ratio/oracle_again", "decode_speedup/native", "e2e_speedup/native"),
    ),
    "LOOKS_CONTRADICTED": measured(looked, first_look_hidden, "plan/stopping/looks"),
    "PLAN_CONTRADICTED": measured(niah, asked_for_more, "preset/overrides"),
    "MACHINE_CONTRADICTED": measured(
        watched, lambda report: report.replace(machine=(report.machine or ())[:2]), "machine"
    ),
    "TIMES_OF_NO_CLOCK": measured(warmed, with_digits, "arms/oracle/measurements"),
}
