"""What was planned against what was measured: missing rows, their order, records that stand twice."""

from collections import Counter
from collections.abc import Iterable, Iterator

from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView, row_key
from gate.rulebook.rule import SPEEDUP, Example, Finding
from reports.records.claims import Claim
from reports.records.measurement import Arm


@evidence_rule(
    "RUN_INCOMPLETE",
    title="Rows that were planned are not there",
    catches="A run that is not marked complete, or an arm whose rows are not every sample in every repeat of the plan.",
    why="Dropping the rows that came out badly is the oldest doctoring; an interrupted run is not a result yet.",
    fix="Run the same command again: it goes on where it stopped. Never remove rows.",
    severity="withheld",
    example=Example(bad="3 repeats planned, 44 of 45 rows", good="3 repeats planned, 45 of 45 rows"),
)
def run_incomplete(view: ReportView) -> Iterator[Finding]:
    """The measured rows are not the planned ones."""
    plan = view.report.plan
    if view.imported:
        yield from _imported_samples(view)
        return
    if plan is None or plan.complete is not True:
        found = "none" if plan is None or plan.complete is None else "false"
        yield Finding("plan.complete: the run was not finished", field="plan.complete", found=found, allowed="true")
    if plan is None or not view.report.arms:
        return
    if not plan.samples or not plan.repeats:
        yield Finding("plan: samples or repeats are not recorded", field="plan.samples", found="none", allowed="1")
        return
    asked = [sample for (prompt_set, sample) in view.prompts if prompt_set == "main"]
    if len(asked) != plan.samples:
        message = f"workload.prompts: {len(asked)} prompts, {plan.samples} samples were planned"
        yield Finding(message, field="workload.prompts", found=str(len(asked)), allowed=str(plan.samples))
    for arm in view.report.arms:
        repeats = plan.repeats
        if arm.prompt_set == "needle_free":  # a control of the haystack, not of speed: it may run fewer times
            repeats = min(plan.repeats, max((row.repeat for row in arm.measurements), default=0) + 1)
        yield from _grid(arm, plan.samples, repeats, plan.complete is True)


def _grid(arm: Arm, samples: int, repeats: int, complete: bool) -> Iterator[Finding]:
    planned = samples * repeats
    seen = {row_key(row) for row in arm.measurements}
    present = sum(1 for sample, repeat in seen if sample < samples and repeat < repeats)
    if present == planned and len(seen) == planned:
        return
    yield Finding(
        f"{arm.name}: {present} of {planned} planned rows are there, {len(seen) - present} others; the plan is "
        f"{samples} samples in {repeats} repeats",
        arm=arm.name,
        field="measurements",
        found=str(len(seen)),
        allowed=str(planned),
        severity="invalid" if complete else None,
    )


def _imported_samples(view: ReportView) -> Iterator[Finding]:
    planned = view.report.plan.samples if view.report.plan is not None else None
    for arm in view.report.arms if planned is not None else ():
        measured = len({row.sample for row in arm.measurements})
        if arm.measurements and measured != planned:
            message = f"{arm.name}: {measured} samples were measured, the file states {planned}"
            yield Finding(message, arm.name, None, "measurements", str(measured), str(planned))


@evidence_rule(
    "RUN_ORDER",
    title="Rows and the recorded order disagree",
    catches="A row whose position is not the place of its (arm, sample, repeat) in `plan.order`, or an order that has "
    "gaps or other runs than the rows.",
    why="Drift, warm-up and interleaving are judged by the order; edited in one place, it contradicts the other.",
    fix="Let the runner write down the order; do not move rows.",
    example=Example(bad="a row that says 7th, a plan that says 9th", good="rows and plan give the same order"),
)
def run_order(view: ReportView) -> Iterator[Finding]:
    """`order` of the rows and `plan.order` do not say the same."""
    order = view.report.plan.order if view.report.plan is not None else None
    if order is None:
        return
    places = {(run.arm, run.sample, run.repeat): place for place, run in enumerate(order)}
    rows = 0
    for arm in view.report.arms:
        for row in arm.measurements:
            rows += 1
            place = places.get((arm.name, row.sample, row.repeat))
            if place is None or row.order != place:
                yield Finding(
                    f"{arm.name}, sample {row.sample}, repeat {row.repeat}: ran as number {row.order}, in plan.order "
                    f"it is {'missing' if place is None else f'number {place}'}",
                    arm=arm.name,
                    sample=row.sample,
                    field="order",
                    found=str(row.order),
                    allowed=str(place),
                )
    if len(order) != rows:
        message = f"plan.order: {len(order)} runs, {rows} rows were measured"
        yield Finding(message, field="plan.order", found=str(len(order)), allowed=str(rows))


@evidence_rule(
    "DUPLICATE_RECORDS",
    title="Records that must be one stand twice",
    catches="Two arms, rows, prompts, runs, models, audited streams or claims of one name, several verifiers, or "
    "several arms in a role that can be filled once (oracle, null, needle-free).",
    why="Which of two oracles is the baseline? The slower one, if the author may choose.",
    fix="Keep one record of each; give another configuration another name and role.",
    example=Example(bad="two rows of sample 3, repeat 0 in one arm", good="one row a sample and repeat"),
)
def duplicate_records(view: ReportView) -> Iterator[Finding]:
    """Something that identifies a record is not unique."""
    report = view.report
    for arm in report.arms:
        yield from _twice(f"rows of {arm.name}", "measurements", (row_key(row) for row in arm.measurements), arm.name)
    yield from _twice("arms", "arms", (arm.name for arm in report.arms))
    yield from _twice("claims", "claims", (claim.name for claim in report.claims))
    prompts = report.workload.prompts if report.workload is not None else ()
    yield from _twice("prompts", "workload.prompts", ((prompt.prompt_set, prompt.sample) for prompt in prompts))
    order = report.plan.order if report.plan is not None else None
    yield from _twice("runs", "plan.order", ((run.arm, run.sample, run.repeat) for run in order or ()))
    models = report.provenance.models if report.provenance is not None else ()
    packages = (report.provenance.packages or ()) if report.provenance is not None else ()
    yield from _twice("packages", "provenance.packages", (package.name for package in packages))
    yield from _twice("models", "provenance.models", ((model.role, model.weights or model.id) for model in models))
    for arm in report.arms:
        streams = arm.stream_audit.streams if arm.stream_audit is not None else ()
        keys = ((stream.sample, stream.repeat) for stream in streams)
        yield from _twice(f"audited streams of {arm.name}", "stream_audit", keys, arm.name)
    codecs = report.kv_quant.arms if report.kv_quant is not None else ()
    yield from _twice("codecs", "kv_quant.arms", (codec.name for codec in codecs))
    for codec in codecs:
        yield from _twice(f"samples of {codec.name}", "kv_quant.arms", (row.sample for row in codec.samples))
    blocks = report.parity.blocks if report.parity is not None else ()
    yield from _twice("parity blocks", "parity.blocks", ((block.sample, block.block) for block in blocks))
    verifiers = [model for model in models if model.role == "verifier"]
    if len(verifiers) > 1:
        message = f"provenance.models: {len(verifiers)} verifiers ({', '.join(one.id for one in verifiers[:3])})"
        yield Finding(message, field="provenance.models", found=str(len(verifiers)), allowed="1")
    for role, members in (
        ("oracle", [arm for arm in report.arms if arm.role == "oracle"]),
        ("null", [arm for arm in report.arms if arm.role == "null"]),
        ("needle-free", [arm for arm in report.arms if arm.prompt_set == "needle_free"]),
    ):
        if len(members) > 1:
            names = ", ".join(arm.name for arm in members[:3])
            message = f"arms: {len(members)} of role {role} ({names})"
            yield Finding(message, members[1].name, None, "role", str(len(members)), "1")


def _twice(what: str, field: str, keys: Iterable[object], arm: str | None = None) -> Iterator[Finding]:
    found = list(keys)
    if len(set(found)) == len(found):
        return
    repeated = [(key, count) for key, count in Counter(found).items() if count > 1]
    if repeated:
        key, count = repeated[0]
        message = f"{what}: {key} stands {count} times" + (f", {len(repeated) - 1} others too" if repeated[1:] else "")
        yield Finding(message, arm=arm, field=field, found=str(count), allowed="1")


@claim_rule(
    "ARMS_NOT_INTERLEAVED",
    title="One arm ran before the other",
    catches="A compared pair whose order is not recorded, that ran with other samples or repeats in between, or that "
    "always ran in the same order.",
    why="A machine that warms up or throttles makes whatever ran first look better or worse.",
    fix="Within each sample and repeat run every arm, forwards and backwards in turn (ABBA).",
    blocks=(*SPEEDUP, "null_ratio"),
    example=Example(bad="all runs of the oracle, then all of the arm", good="oracle, arm, arm, oracle, ..."),
)
def arms_not_interleaved(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The rows of arm and baseline did not run side by side."""
    arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
    if arm is None or baseline is None:
        return
    both = f"{arm.name} and {baseline.name}"
    partners = {row_key(row): row.order for row in baseline.measurements}
    pairs = [(row.order, partners[row_key(row)]) for row in arm.measurements if row_key(row) in partners]
    known = [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]
    if len(known) < len(pairs) or not pairs:
        message = f"{both}: the order of {len(known)} of {len(pairs)} pairs is recorded"
        yield Finding(message, arm.name, None, "order", str(len(known)), str(max(1, len(pairs))))
        return
    apart = max(abs(ours - theirs) for ours, theirs in known)
    most = len(view.report.arms) - 1
    if apart > most:
        message = f"{both}: up to {apart - 1} other runs lie between a pair; side by side it is at most {most - 1}"
        yield Finding(message, arm.name, None, "order", str(apart - 1), f"at most {most - 1}")
    first = sum(ours < theirs for ours, theirs in known)
    if len(known) > 1 and first in (0, len(known)):
        message = f"{both}: {arm.name} ran {'first' if first else 'second'} in all {len(known)} pairs"
        yield Finding(message, arm.name, None, "order", str(first), f"1 to {len(known) - 1}")
