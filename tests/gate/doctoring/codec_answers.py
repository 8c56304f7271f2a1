"""Codecs of the K/V cache: answers, streams, prompts and recall."""

import random

from reports.records.codec_rows import CodecSample
from reports.report import Report
from tests.gate.doctoring.codec_edits import (
    GOOD,
    chosen,
    set_result,
    with_codec,
    with_samples,
    with_verdicts,
)
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.edits import set_plan


def losing_codec(report: Report) -> Report | None:
    """The truth: a codec at few bits loses an answer that affine 4 keeps."""
    edited = with_samples(
        report, GOOD,
        lambda row: row.replace(
            correct=False, text="the red barn", token_ids=(17, 18, 19, 2), token_ids_equal_oracle=False
        )
        if not row.sample else row,
    )  # fmt: skip
    return with_verdicts(edited, lambda arm, stated: False)


@doctoring(truth=losing_codec)
def flip_codec_score(report: Report, rng: random.Random) -> Report | None:
    """A codec's wrong answer is counted as right."""
    name = chosen(report, GOOD, rng)
    edited = with_samples(report, name, lambda row: row.replace(correct=True))
    return with_verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=losing_codec)
def edit_codec_text(report: Report, rng: random.Random) -> Report | None:
    """A codec's wrong answer is edited."""
    name = chosen(report, GOOD, rng)
    prompts = report.workload.prompts if report.workload is not None else ()
    answers = {prompt.sample: prompt.answer for prompt in prompts}
    edited = with_samples(report, name, lambda row: row.replace(correct=True, text=answers[row.sample]))
    return with_verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=losing_codec)
def drop_codec_sample(report: Report, rng: random.Random) -> Report | None:
    """The sample that a codec lost goes from its arm."""
    name = chosen(report, GOOD, rng)
    edited = with_codec(report, name, lambda arm: arm.replace(samples=arm.samples[1:]))
    return with_verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=losing_codec)
def drop_codec_sample_everywhere(report: Report, rng: random.Random) -> Report | None:
    """The sample that a codec lost goes from all arms and from the workload, with plan and digest to match."""
    from tests.gate.doctoring.reshape import with_prompts

    name = chosen(report, GOOD, rng)
    result, workload = report.kv_quant, report.workload
    if result is None or workload is None or len(workload.prompts) < 2:
        return None
    arms = tuple(
        arm.replace(samples=tuple(row.replace(sample=row.sample - 1) for row in arm.samples[1:])) for arm in result.arms
    )
    oracle = tuple(row.replace(sample=row.sample - 1) for row in result.oracle[1:])
    prompts = [p.replace(sample=p.sample - 1) for p in workload.prompts if p.sample]
    report = with_prompts(report.replace(kv_quant=result.replace(arms=arms, oracle=oracle)), prompts)
    report = set_plan(report, samples=len(prompts))
    return with_verdicts(report, lambda arm, stated: arm == name)


@doctoring()
def other_oracle_recall(report: Report, rng: random.Random) -> Report | None:
    """The oracle is said to recall less."""
    return set_result(report, oracle_recall=0.5)


@doctoring()
def forget_the_oracle(report: Report, rng: random.Random) -> Report | None:
    """The verifier's own rows go, and with them what streams are compared with."""
    return set_result(report, oracle=())


@doctoring(truth=losing_codec)
def stream_said_to_be_equal(report: Report, rng: random.Random) -> Report | None:
    """A stream that another arm does not share is said to be the oracle's."""
    name = chosen(report, GOOD, rng)
    return with_samples(report, name, lambda row: row.replace(token_ids_equal_oracle=True))


def losing_the_second(report: Report) -> Report | None:
    """The truth: after its K/V were saved and loaded, a codec loses an answer that affine 4 keeps."""

    def edit(row: CodecSample) -> CodecSample:
        if row.sample or row.second is None:
            return row
        lost = row.second.replace(
            correct=False, text="the red barn", token_ids=(17, 18, 19, 2), token_ids_equal_oracle=False
        )
        return row.replace(second=lost)

    return with_verdicts(with_samples(report, GOOD, edit), lambda arm, stated: False)


@doctoring(truth=losing_the_second)
def flip_second_score(report: Report, rng: random.Random) -> Report | None:
    """A codec's wrong answer to the second question is counted as right."""
    name = chosen(report, GOOD, rng)
    edited = with_samples(
        report,
        name,
        lambda row: row.replace(second=row.second.replace(correct=True) if row.second is not None else None),
    )
    return with_verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=losing_the_second)
def drop_second_answers(report: Report, rng: random.Random) -> Report | None:
    """A codec's answers to the second question go, so that the first decides."""
    name = chosen(report, GOOD, rng)
    edited = with_samples(report, name, lambda row: row.replace(second=None))
    return with_verdicts(edited, lambda arm, stated: arm == name)


def five_prompts(report: Report) -> Report | None:
    """The truth: a codec and affine 4 were compared on five prompts."""
    from tests.gate.doctoring.reshape import with_prompts

    result, workload = report.kv_quant, report.workload
    if result is None or workload is None or len(result.oracle) < 5:
        return None
    arms = tuple(arm.replace(samples=arm.samples[:5]) for arm in result.arms)
    made = result.replace(arms=arms, oracle=result.oracle[:5], verdicts=())
    report = with_prompts(report.replace(kv_quant=made), [one for one in workload.prompts if one.sample < 5])
    return set_plan(report, samples=5)


@doctoring(truth=five_prompts)
def copy_codec_samples(report: Report, rng: random.Random) -> Report | None:
    """Five prompts of a codec run are counted as ten, with digests of their own."""
    from tests.gate.doctoring.prompts import fresh_digest
    from tests.gate.doctoring.reshape import with_prompts

    result, workload = report.kv_quant, report.workload
    if result is None or workload is None:
        return None
    arms = tuple(
        arm.replace(samples=(*arm.samples, *(row.replace(sample=row.sample + 5) for row in arm.samples)))
        for arm in result.arms
    )
    oracle = (*result.oracle, *(row.replace(sample=row.sample + 5) for row in result.oracle))
    more = [one.replace(sample=one.sample + 5, digest=fresh_digest(rng)) for one in workload.prompts]
    made = report.replace(kv_quant=result.replace(arms=arms, oracle=oracle))
    return set_plan(with_prompts(made, [*workload.prompts, *more]), samples=10)


@doctoring(truth=losing_codec)
def state_the_recall(report: Report, rng: random.Random) -> Report | None:
    """The answer that a codec lost is not scored, and its recall is stated instead."""
    edited = with_samples(report, "hadamard_e8", lambda row: row if row.correct else row.replace(correct=None))
    return with_codec(edited, "hadamard_e8", lambda arm: arm.replace(stated_recall=1.0)) if edited is not None else None
