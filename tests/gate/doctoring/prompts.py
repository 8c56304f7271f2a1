"""What was asked: one prompt as many, prompts of arms exchanged, digests left behind."""

import hashlib
import random

from reports.records.measurement import Measurement
from reports.records.plan import PromptRecord
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import under_test
from tests.gate.doctoring.reshape import arm_of, edit_all_rows, ordered, paced, selected, with_prompts, with_rows
from tests.gate.edits import edit_arm, edit_rows, set_plan


def fresh_digest(rng: random.Random) -> str:
    """A digest of nothing that anybody has."""
    return "sha256:" + hashlib.sha256(str(rng.random()).encode()).hexdigest()


def few_prompts(report: Report) -> Report | None:
    """The truth: two prompts were asked."""
    if report.kind != "code" or report.plan is None or (report.plan.repeats or 0) < 3:
        return None
    return selected(report, (0, 1), range(report.plan.repeats or 0))


def _multiplied(report: Report, rng: random.Random, *, disguised: bool, streams: bool) -> Report | None:
    """`report` with its prompts asked again as further samples, times varied; disguised by digests of their own."""
    assert report.plan is not None
    assert report.workload is not None
    samples, repeats = report.plan.samples or 0, report.plan.repeats or 0
    total, digests = 6, {sample: fresh_digest(rng) for sample in range(samples, 6)}

    def moved(row: Measurement, sample: int) -> Measurement:
        row = paced(row, rng.lognormvariate(0, 0.02), rng.lognormvariate(0, 0.02)).replace(sample=sample)
        if disguised:
            row = row.replace(prompt_digest=digests[sample])
        if streams:
            ids = tuple((token + 7 * sample) % 40000 for token in row.token_ids or ())
            row = row.replace(token_ids=ids, text=f"{row.text} # {sample}")
        return row

    prompts: list[PromptRecord] = list(report.workload.prompts)
    for sample in range(samples, total):
        source = next(prompt for prompt in report.workload.prompts if prompt.sample == sample % samples)
        prompts.append(source.replace(sample=sample, **({"digest": digests[sample]} if disguised else {})))
    order = list(report.plan.order or ())
    blocks = {}
    for run in order:
        blocks.setdefault((run.sample, run.repeat), []).append(run)
    whole = []
    for repeat in range(repeats):
        for sample in range(total):
            block = sorted(blocks[sample % samples, repeat], key=lambda run: run.arm)
            if (sample + repeat) % 2:
                block.reverse()
            whole += [run.replace(sample=sample) for run in block]
    for arm in report.arms:
        rows = [
            *arm.measurements,
            *(
                moved(row, sample)
                for sample in range(samples, total)
                for row in arm.measurements
                if row.sample == sample % samples
            ),
        ]
        audit = arm.stream_audit
        assert audit is not None
        extra = [
            stream.replace(sample=sample)
            for sample in range(samples, total)
            for stream in audit.streams
            if stream.sample == sample % samples
        ]
        report = edit_arm(
            report,
            arm.name,
            lambda one, rows=rows, audit=audit, extra=extra: one.replace(
                measurements=tuple(rows), stream_audit=audit.replace(streams=(*audit.streams, *extra))
            ),
        )
    return ordered(set_plan(with_prompts(report, prompts), samples=total), whole)


@doctoring(truth=few_prompts)
def one_prompt_as_many(report: Report, rng: random.Random) -> Report | None:
    """Two prompts are counted as six, with rows of their own and the same digests."""
    return _multiplied(report, rng, disguised=False, streams=False)


@doctoring(truth=few_prompts)
def disguise_prompts(report: Report, rng: random.Random) -> Report | None:
    """Two prompts are counted as six, with rows and digests of their own; the streams are the same."""
    return _multiplied(report, rng, disguised=True, streams=False)


@doctoring(truth=few_prompts)
def invent_prompts(report: Report, rng: random.Random) -> Report | None:
    """Two prompts are counted as six, with rows, digests and streams of their own."""
    return _multiplied(report, rng, disguised=True, streams=True)


@doctoring()
def repeat_a_prompt(report: Report, rng: random.Random) -> Report | None:
    """All samples of an arm are said to have asked the first prompt."""
    name = under_test(report, rng)
    rows = arm_of(report, name).measurements if name is not None else ()
    if name is None or len({row.sample for row in rows}) < 2:
        return None
    first = rows[0]
    return edit_rows(
        report, name, lambda row: row.replace(prompt_digest=first.prompt_digest, prompt_tokens=first.prompt_tokens)
    )


@doctoring()
def stale_prompt_digest(report: Report, rng: random.Random) -> Report | None:
    """A prompt of the workload is exchanged; the workload's digest stays."""
    if report.workload is None or not report.workload.prompts:
        return None
    first, *rest = report.workload.prompts
    return report.replace(workload=report.workload.replace(prompts=(first.replace(digest=fresh_digest(rng)), *rest)))


@doctoring()
def exchange_prompt_with_digest(report: Report, rng: random.Random) -> Report | None:
    """A prompt of the workload is exchanged, with the workload's digest; the rows stay."""
    if not report.arms or report.workload is None or not report.workload.prompts:
        return None
    first, *rest = report.workload.prompts
    return with_prompts(report, [first.replace(digest=fresh_digest(rng)), *rest])


@doctoring()
def other_prompts_in_arm(report: Report, rng: random.Random) -> Report | None:
    """An arm is said to have been asked another prompt."""
    name, digest = under_test(report, rng), fresh_digest(rng)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: row.replace(prompt_digest=digest), where=lambda row: row.sample == 0)


@doctoring()
def shorter_prompts_in_arm(report: Report, rng: random.Random) -> Report | None:
    """An arm is said to have read shorter prompts."""
    name = under_test(report, rng)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: row.replace(prompt_tokens=(row.prompt_tokens or 2) // 2))


@doctoring()
def forget_prompt_digests(report: Report, rng: random.Random) -> Report | None:
    """No row says any more what it was asked."""
    if not report.arms:
        return None
    return edit_all_rows(report, [arm.name for arm in report.arms], lambda row: row.replace(prompt_digest=None))


@doctoring()
def stale_workload_digest(report: Report, rng: random.Random) -> Report | None:
    """The workload's digest is another one."""
    return report.replace(workload=report.workload.replace(digest=fresh_digest(rng))) if report.workload else None


@doctoring()
def drop_workload_digest(report: Report, rng: random.Random) -> Report | None:
    """The workload has no digest any more."""
    return report.replace(workload=report.workload.replace(digest=None)) if report.workload else None


@doctoring()
def drop_workload(report: Report, rng: random.Random) -> Report | None:
    """Nothing says any more what was asked."""
    return report.replace(workload=None)


@doctoring()
def drop_a_prompt(report: Report, rng: random.Random) -> Report | None:
    """A prompt and its rows go from workload and arms; the plan's counts and the order stay."""
    if not report.arms or report.workload is None or report.plan is None or (report.plan.samples or 0) < 2:
        return None
    gone = (report.plan.samples or 0) - 1
    report = with_prompts(report, [prompt for prompt in report.workload.prompts if prompt.sample != gone])
    for arm in report.arms:
        rows = [row for row in arm.measurements if row.sample != gone]
        report = edit_arm(report, arm.name, lambda one, rows=rows: with_rows(one, rows))
    return report


@doctoring()
def expose_needles(report: Report, rng: random.Random) -> Report | None:
    """Needles are said to lie elsewhere in the prompt."""
    if report.workload is None or not any(prompt.needle_first for prompt in report.workload.prompts):
        return None
    prompts = [
        prompt.replace(needle_first=1, needle_last=13, needle_depth=0.0) if prompt.needle_first else prompt
        for prompt in report.workload.prompts
    ]
    return report.replace(workload=report.workload.replace(prompts=tuple(prompts)))
