"""Forgeries that an earlier gate admitted: repeats that replay the answer, other prompts, plans and names."""

import random
from datetime import UTC, datetime, timedelta

from reports.records.measurement import Measurement, Mismatch
from reports.records.plan import Resume
from reports.records.provenance import AsRun
from reports.report import Report
from tests.gate.doctoring.arms import renamed
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import drafting, restoring, under_test
from tests.gate.doctoring.reshape import (
    arm_of,
    ordered,
    paced,
    runs_in_order,
    set_arm,
    timed,
    with_prompts,
    with_rounds,
)
from tests.gate.edits import dated, edit_arm, edit_rows, set_plan, set_verifier
from tests.gate.honest.setup import digest

NAMES = ("5x", "five_times_as_fast", "beats_eagle", "medusa", "0racle", "dfl4sh", "twice-as-fast", "fastest")


@doctoring()
def replay_in_repeats(report: Report, rng: random.Random) -> Report | None:
    """All repeats but the first accept every draft, as if the drafter had seen the answer."""
    name = drafting(report, rng)
    if name is None or (report.plan is not None and (report.plan.repeats or 0) < 2):
        return None

    def edit(row: Measurement) -> Measurement:
        assert row.speculation is not None
        like, left, rounds = (row.speculation.rounds or ())[0], row.decode_tokens or 0, []
        while left > 0:
            committed = min(8, left)
            rounds.append(like.replace(drafted=7, accepted=min(7, committed), committed=committed))
            left -= committed
        return with_rounds(row, rounds)

    return edit_rows(report, name, edit, where=lambda row: row.repeat > 0)


@doctoring()
def other_prompt_set(report: Report, rng: random.Random) -> Report | None:
    """An arm is timed on prompts of another set, which are recorded as such."""
    name = under_test(report, rng)
    if name is None or report.workload is None:
        return None
    main = [prompt for prompt in report.workload.prompts if prompt.prompt_set == "main"]
    others = [prompt.replace(prompt_set="held_out", digest=digest(f"other {prompt.digest}")) for prompt in main]
    asked = {prompt.sample: prompt.digest for prompt in others}
    report = set_arm(with_prompts(report, (*report.workload.prompts, *others)), name, prompt_set="held_out")
    return edit_rows(report, name, lambda row: paced(row.replace(prompt_digest=asked[row.sample]), decode=0.7))


@doctoring()
def reverse_a_round_without_seed(report: Report, rng: random.Random) -> Report | None:
    """The seed of the order is deleted, and one round runs the other way round."""
    order = runs_in_order(report)
    if len(report.arms) < 3 or not order:
        return None
    first = [run for run in order if (run.sample, run.repeat) == (order[0].sample, order[0].repeat)]
    return set_plan(ordered(report, [*first[::-1], *order[len(first) :]]), order_seed=None)


@doctoring()
def restore_one_layer(report: Report, rng: random.Random) -> Report | None:
    """A restoring arm put back one layer of all that were evicted."""
    name = restoring(report, rng)
    if name is None:
        return None
    return edit_rows(
        report, name, lambda row: row.replace(restored_positions=(row.restored_positions or 0) // 30 or None)
    )


@doctoring()
def bill_decode_to_capture(report: Report, rng: random.Random) -> Report | None:
    """A third of the decode time of prompt lookup is called capture of features."""
    arms = [arm.name for arm in report.arms if arm.drafter is not None and arm.drafter.weights is None]
    if not arms:
        return None

    def edit(row: Measurement) -> Measurement:
        spent = row.decode_s or 0.0
        return timed(paced(row, decode=2 / 3), aux_s=spent / 3)

    return edit_rows(report, rng.choice(arms), edit)


@doctoring()
def cut_within_the_slack(report: Report, rng: random.Random) -> Report | None:
    """The decode time of an arm is half a percent and a millisecond shorter than its blocks."""
    name = drafting(report, rng)
    if name is None:
        return None
    cut = [0.005, 0.001]
    return edit_rows(report, name, lambda row: row.replace(decode_s=(row.decode_s or 0.0) * (1 - cut[0]) - cut[1]))


@doctoring()
def ties_by_the_dozen(report: Report, rng: random.Random) -> Report | None:
    """The verifier is said to compute in bfloat16, and every fourth token of an arm to be tied."""
    name = drafting(report, rng)
    models = report.provenance.models if report.provenance is not None else ()
    checked = next((model.faithfulness for model in models if model.role == "verifier"), None)
    if name is None or checked is None:
        return None
    run = AsRun(dtype="bfloat16", tokens=256, argmax_agreement=0.96)
    report = set_verifier(report, dtype="bfloat16", faithfulness=checked.replace(as_run=run))
    emitted = {(row.sample, row.repeat): row.token_ids or () for row in arm_of(report, name).measurements}

    def audited(stream):  # type: ignore[no-untyped-def]
        ids = emitted[stream.sample, stream.repeat]
        places = range(2, len(ids), 4)
        return stream.replace(
            mismatches=tuple(Mismatch(position=at, emitted=ids[at], argmax=ids[at] + 1, gap=0.2) for at in places)
        )

    def edit(arm):  # type: ignore[no-untyped-def]
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=tuple(map(audited, arm.stream_audit.streams))))

    return edit_arm(report, name, edit)


@doctoring()
def name_a_figure_or_a_rival(report: Report, rng: random.Random) -> Report | None:
    """An arm is named after a figure, a rank, another project, or K3's own in digits that look like letters."""
    name = under_test(report, rng)
    return renamed(report, name, rng.choice(NAMES)) if name is not None else None


@doctoring()
def delete_claims(report: Report, rng: random.Random) -> Report | None:
    """The end-to-end claims go, or all claims of an arm that came out badly."""
    gone = rng.choice(("e2e_speedup", "null_ratio", "token_identity"))
    claims = tuple(claim for claim in report.claims if claim.metric != gone)
    return report.replace(claims=claims) if len(claims) < len(report.claims) else None


@doctoring()
def date_elsewhere(report: Report, rng: random.Random) -> Report | None:
    """The report was made before its code was, or at another time than its name says."""
    if rng.random() < 0.5:
        return dated(report, datetime(2001, 2, 3, tzinfo=UTC))
    return report.replace(created_at=datetime(2026, 11, 30, tzinfo=UTC))


@doctoring()
def shipped_name_foreign_digest(report: Report, rng: random.Random) -> Report | None:
    """The run is called one of a preset that ships, with a digest of nothing."""
    if report.preset is None:
        return None
    old = report.preset.name
    named = report.preset.replace(name="demo", digest=digest("nothing"))
    return report.replace(preset=named, report_id=report.report_id.replace(f"{old}-", "demo-", 1))


@doctoring()
def resume_inside_pairs(report: Report, rng: random.Random) -> Report | None:
    """The run was interrupted inside every round, and went on later."""
    order = runs_in_order(report)
    if not order or report.created_at is None:
        return None
    places = range(1, len(order), len(report.arms))
    made = report.created_at
    resumes = tuple(Resume(order=place, at=made + timedelta(minutes=number)) for number, place in enumerate(places))
    return set_plan(report, resumes=resumes)


@doctoring()
def call_it_a_control(report: Report, rng: random.Random) -> Report | None:
    """A weak arm under test is called a control, so that nobody asks for its figures."""
    names = [arm.name for arm in report.arms if arm.role == "sut"]
    if len(names) < 2:
        return None
    return set_arm(report, rng.choice(names), role="control", system_under_test=None)


@doctoring()
def measure_it_twice(report: Report, rng: random.Random) -> Report | None:
    """An arm stands there again under another name, a little faster, so that the better one may be printed."""
    name = under_test(report, rng)
    if name is None:
        return None
    again = arm_of(report, name)
    rows = tuple(paced(row, decode=rng.uniform(0.9, 0.99), prefill=0.99) for row in again.measurements)
    order = []
    for run in runs_in_order(report):
        order += [run, run.replace(arm="once_more")] if run.arm == name else [run]
    report = report.replace(arms=(*report.arms, again.replace(name="once_more", measurements=rows)))
    return ordered(report, order)
