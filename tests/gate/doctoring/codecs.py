"""Codecs of the K/V cache: bits, errors, recall, verdicts."""

import random
from collections.abc import Callable
from typing import Any

from reports.records.codec_rows import CodecArm, CodecSample
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.edits import set_plan

GOOD = "hadamard_e8"
"""The honest reports' codec that is worthwhile."""
BAD = "lattice_d4"
"""Their codec that errs less than affine 4, at more bits."""
COMPARED = ("identity", "affine4")
"""What every other codec is held against."""

Change = Callable[[CodecSample], CodecSample]


def _chosen(report: Report, name: str, rng: random.Random) -> str:
    """The codec of this name; where a real run has none, any but those that others are held against."""
    names = [arm.name for arm in report.kv_quant.arms] if report.kv_quant is not None else []
    others = [other for other in names if other not in COMPARED]
    return name if name in names or not others else rng.choice(others)


def _codec(report: Report, name: str, edit: Callable[[CodecArm], CodecArm]) -> Report | None:
    result = report.kv_quant
    if result is None:
        return None
    arms = tuple(edit(arm) if arm.name == name else arm for arm in result.arms)
    return report.replace(kv_quant=result.replace(arms=arms))


def _samples(report: Report, name: str, edit: Change) -> Report | None:
    return _codec(report, name, lambda arm: arm.replace(samples=tuple(edit(row) for row in arm.samples)))


def _scaled(row: CodecSample, k: float, v: float) -> CodecSample:
    """A row whose errors are multiplied, layer by layer."""
    layers = tuple(layer.replace(k=layer.k * k, v=layer.v * v) for layer in row.layers)
    return row.replace(
        layers=layers,
        relative_error_k=(row.relative_error_k or 0.0) * k,
        relative_error_v=(row.relative_error_v or 0.0) * v,
    )


def _erring(row: CodecSample, k: float, v: float) -> CodecSample:
    """A row that errs by so much in every layer."""
    layers = tuple(layer.replace(k=k, v=v) for layer in row.layers)
    return row.replace(layers=layers, relative_error_k=k, relative_error_v=v)


def _verdicts(report: Report | None, worthwhile: Callable[[str, bool], bool]) -> Report | None:
    """`report` with its printed verdicts edited."""
    result = report.kv_quant if report is not None else None
    if report is None or result is None:
        return None
    verdicts = tuple(one.replace(worthwhile=worthwhile(one.arm, one.worthwhile)) for one in result.verdicts)
    return report.replace(kv_quant=result.replace(verdicts=verdicts))


def _praised(report: Report | None, name: str) -> Report | None:
    return _verdicts(report, lambda arm, stated: stated or arm == name)


def _set(report: Report, **changes: Any) -> Report | None:
    return report.replace(kv_quant=report.kv_quant.replace(**changes)) if report.kv_quant is not None else None


@doctoring()
def flip_verdict(report: Report, rng: random.Random) -> Report | None:
    """A codec that is not worthwhile is printed as such."""
    return _praised(report, _chosen(report, BAD, rng))


@doctoring()
def shrink_stored_bytes(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to store less, and printed as worthwhile."""
    by, name = rng.uniform(0.4, 0.7), _chosen(report, BAD, rng)
    edited = _samples(report, name, lambda row: row.replace(stored_bytes=round((row.stored_bytes or 0) * by)))
    return _praised(edited, name)


@doctoring()
def shrink_stored_bytes_throughout(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to store less, entropy-coded too, and printed as worthwhile."""
    by, name = rng.uniform(0.4, 0.7), _chosen(report, BAD, rng)

    def edit(row: CodecSample) -> CodecSample:
        entropy = (row.entropy_bits or 0.0) * by
        return row.replace(stored_bytes=round((row.stored_bytes or 0) * by), entropy_bits=entropy)

    return _praised(_samples(report, name, edit), name)


@doctoring()
def shrink_stored_bytes_of_some(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to store a tenth in one sample."""
    name = _chosen(report, BAD, rng)
    edited = _samples(
        report, name, lambda row: row.replace(stored_bytes=(row.stored_bytes or 0) // 10) if not row.sample else row
    )
    return _praised(edited, name)


@doctoring()
def inflate_values(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to stand for more values, and printed as worthwhile."""
    name = _chosen(report, BAD, rng)
    return _praised(_samples(report, name, lambda row: row.replace(values=(row.values or 0) * 2)), name)


@doctoring()
def state_fewer_bits(report: Report, rng: random.Random) -> Report | None:
    """A codec is printed with fewer bits than it stores."""
    name = _chosen(report, BAD, rng)
    return _praised(_codec(report, name, lambda arm: arm.replace(stated_bits=4.0)), name)


@doctoring()
def inflate_reference_bits(report: Report, rng: random.Random) -> Report | None:
    """Affine 4 is said to store more, so that another codec stores no more."""
    edited = _samples(report, "affine4", lambda row: row.replace(stored_bytes=round((row.stored_bytes or 0) * 1.5)))
    return _praised(edited, _chosen(report, BAD, rng))


@doctoring()
def affine_without_scales(report: Report, rng: random.Random) -> Report | None:
    """Affine 8 is said to store 4 bits a value, without scales."""
    edited = _samples(report, "affine8", lambda row: row.replace(stored_bytes=(row.values or 0) // 2))
    return _verdicts(edited, lambda arm, stated: stated or arm == "affine8")


def bad_codec(report: Report) -> Report | None:
    """The truth: a codec at few bits errs more than affine 4."""
    edited = _samples(report, GOOD, lambda row: _erring(row, 0.05 + row.sample * 1e-4, 0.04))
    return _verdicts(edited, lambda arm, stated: False)


@doctoring(truth=bad_codec)
def shrink_errors(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to err less, and printed as worthwhile."""
    name = _chosen(report, GOOD, rng)
    edited = _samples(
        report,
        name,
        lambda row: row.replace(
            relative_error_k=(row.relative_error_k or 0.0) / 10, relative_error_v=(row.relative_error_v or 0.0) / 10
        ),
    )
    return _verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=bad_codec)
def shrink_errors_throughout(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to err less, in every layer, and printed as worthwhile."""
    name = _chosen(report, GOOD, rng)
    edited = _samples(report, name, lambda row: _scaled(row, 0.1, 0.1))
    return _verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=bad_codec)
def inflate_reference_errors_throughout(report: Report, rng: random.Random) -> Report | None:
    """Affine 4 is said to err more, in every layer."""
    name = _chosen(report, GOOD, rng)
    edited = _samples(report, "affine4", lambda row: _scaled(row, 4, 8))
    return _verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=bad_codec)
def inflate_reference_errors(report: Report, rng: random.Random) -> Report | None:
    """Affine 4 is said to err more."""
    name = _chosen(report, GOOD, rng)
    edited = _samples(
        report, "affine4",
        lambda row: row.replace(
            relative_error_k=(row.relative_error_k or 0.0) * 4, relative_error_v=(row.relative_error_v or 0.0) * 8
        ),
    )  # fmt: skip
    return _verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=bad_codec)
def state_smaller_error(report: Report, rng: random.Random) -> Report | None:
    """A codec is printed with a smaller error than its samples have."""
    name = _chosen(report, GOOD, rng)
    edited = _codec(report, name, lambda arm: arm.replace(stated_relative_error=0.001))
    return _verdicts(edited, lambda arm, stated: arm == name)


def losing_codec(report: Report) -> Report | None:
    """The truth: a codec at few bits loses an answer that affine 4 keeps."""
    edited = _samples(
        report, GOOD,
        lambda row: row.replace(
            correct=False, text="the red barn", token_ids=(17, 18, 19, 2), token_ids_equal_oracle=False
        )
        if not row.sample else row,
    )  # fmt: skip
    return _verdicts(edited, lambda arm, stated: False)


@doctoring(truth=losing_codec)
def flip_codec_score(report: Report, rng: random.Random) -> Report | None:
    """A codec's wrong answer is counted as right."""
    name = _chosen(report, GOOD, rng)
    edited = _samples(report, name, lambda row: row.replace(correct=True))
    return _verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=losing_codec)
def edit_codec_text(report: Report, rng: random.Random) -> Report | None:
    """A codec's wrong answer is edited."""
    name = _chosen(report, GOOD, rng)
    prompts = report.workload.prompts if report.workload is not None else ()
    answers = {prompt.sample: prompt.answer for prompt in prompts}
    edited = _samples(report, name, lambda row: row.replace(correct=True, text=answers[row.sample]))
    return _verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=losing_codec)
def drop_codec_sample(report: Report, rng: random.Random) -> Report | None:
    """The sample that a codec lost goes from its arm."""
    name = _chosen(report, GOOD, rng)
    edited = _codec(report, name, lambda arm: arm.replace(samples=arm.samples[1:]))
    return _verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=losing_codec)
def drop_codec_sample_everywhere(report: Report, rng: random.Random) -> Report | None:
    """The sample that a codec lost goes from all arms and from the workload, with plan and digest to match."""
    from tests.gate.doctoring.reshape import with_prompts

    name = _chosen(report, GOOD, rng)
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
    return _verdicts(report, lambda arm, stated: arm == name)


def unclean(report: Report) -> Report | None:
    """The truth: storing K/V unchanged changes something."""

    def edit(row: CodecSample) -> CodecSample:
        row = _erring(row, 3e-3, 0.0)
        return row if row.sample else row.replace(token_ids=(17, 18, 19, 2), token_ids_equal_oracle=False)

    return _samples(report, "identity", edit)


@doctoring(truth=unclean)
def zero_identity_error(report: Report, rng: random.Random) -> Report | None:
    """The identity codec is said not to err; its streams stay."""
    return _samples(report, "identity", lambda row: row.replace(relative_error_k=0.0))


@doctoring(truth=unclean)
def clean_the_identity(report: Report, rng: random.Random) -> Report | None:
    """The identity codec is said not to err, and to keep every stream."""
    return _samples(report, "identity", lambda row: row.replace(relative_error_k=0.0, token_ids_equal_oracle=True))


@doctoring(truth=unclean)
def clean_the_identity_throughout(report: Report, rng: random.Random) -> Report | None:
    """The identity codec is said not to err in any layer, and given the oracle's streams."""
    if report.kv_quant is None:
        return None
    tokens = {row.sample: row.token_ids for row in report.kv_quant.oracle}
    return _samples(
        report,
        "identity",
        lambda row: _erring(row, 0.0, 0.0).replace(token_ids=tokens[row.sample], token_ids_equal_oracle=True),
    )


@doctoring(truth=unclean)
def drop_the_identity(report: Report, rng: random.Random) -> Report | None:
    """The identity codec goes."""
    result = report.kv_quant
    return _set(report, arms=tuple(arm for arm in result.arms if arm.name != "identity")) if result else None


@doctoring()
def drop_the_reference(report: Report, rng: random.Random) -> Report | None:
    """Affine 4 goes, so that nothing is compared with."""
    result = report.kv_quant
    edited = _set(report, arms=tuple(arm for arm in result.arms if arm.name != "affine4")) if result else None
    return _praised(edited, _chosen(report, BAD, rng))


@doctoring()
def swap_codecs(report: Report, rng: random.Random) -> Report | None:
    """A worse codec stands for affine 4, under its name."""
    result = report.kv_quant
    if result is None:
        return None
    name = _chosen(report, BAD, rng)
    names = {"affine4": name, name: "affine4"}
    arms = tuple(
        arm.replace(name=names.get(arm.name, arm.name), codec=names.get(arm.codec, arm.codec)) for arm in result.arms
    )
    return _praised(_set(report, arms=arms), name)


@doctoring()
def other_oracle_recall(report: Report, rng: random.Random) -> Report | None:
    """The oracle is said to recall less."""
    return _set(report, oracle_recall=0.5)


@doctoring()
def forget_the_oracle(report: Report, rng: random.Random) -> Report | None:
    """The verifier's own rows go, and with them what streams are compared with."""
    return _set(report, oracle=())


@doctoring(truth=losing_codec)
def stream_said_to_be_equal(report: Report, rng: random.Random) -> Report | None:
    """A stream that another arm does not share is said to be the oracle's."""
    name = _chosen(report, GOOD, rng)
    return _samples(report, name, lambda row: row.replace(token_ids_equal_oracle=True))


@doctoring(truth=bad_codec)
def swap_errors_with_more_bits(report: Report, rng: random.Random) -> Report | None:
    """Affine 8 and affine 4 exchange their errors, so that the reference errs less than it does."""
    result = report.kv_quant
    if result is None:
        return None
    rows = {arm.name: arm.samples for arm in result.arms}
    for ours, theirs in (("affine4", "affine8"), ("affine8", "affine4")):
        other = {row.sample: row for row in rows[theirs]}
        report = (
            _samples(
                report,
                ours,
                lambda row, other=other: row.replace(
                    layers=other[row.sample].layers,
                    relative_error_k=other[row.sample].relative_error_k,
                    relative_error_v=other[row.sample].relative_error_v,
                ),
            )
            or report
        )
    return report


def losing_the_second(report: Report) -> Report | None:
    """The truth: after its K/V were saved and loaded, a codec loses an answer that affine 4 keeps."""

    def edit(row: CodecSample) -> CodecSample:
        if row.sample or row.second is None:
            return row
        lost = row.second.replace(
            correct=False, text="the red barn", token_ids=(17, 18, 19, 2), token_ids_equal_oracle=False
        )
        return row.replace(second=lost)

    return _verdicts(_samples(report, GOOD, edit), lambda arm, stated: False)


@doctoring(truth=losing_the_second)
def flip_second_score(report: Report, rng: random.Random) -> Report | None:
    """A codec's wrong answer to the second question is counted as right."""
    name = _chosen(report, GOOD, rng)
    edited = _samples(
        report,
        name,
        lambda row: row.replace(second=row.second.replace(correct=True) if row.second is not None else None),
    )
    return _verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=losing_the_second)
def drop_second_answers(report: Report, rng: random.Random) -> Report | None:
    """A codec's answers to the second question go, so that the first decides."""
    name = _chosen(report, GOOD, rng)
    edited = _samples(report, name, lambda row: row.replace(second=None))
    return _verdicts(edited, lambda arm, stated: arm == name)


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


@doctoring(truth=bad_codec)
def weaken_the_reference(report: Report, rng: random.Random) -> Report | None:
    """A codec that errs more stands for affine 4 under its name, and tells what it is."""
    result = report.kv_quant
    if result is None:
        return None
    other = next((arm for arm in result.arms if arm.name == GOOD), None)
    if other is None:
        return None
    arms = tuple(other.replace(name="affine4") if arm.name == "affine4" else arm for arm in result.arms)
    arms = tuple(arm for arm in arms if arm.name != "hadamard_e8")
    return _set(report, arms=arms, verdicts=())


@doctoring()
def call_it_a_runtime(report: Report, rng: random.Random) -> Report | None:
    """Codecs that are no better are said to be a runtime's, so that nobody counts them among those that were tried."""
    result = report.kv_quant
    if result is None:
        return None
    tried = (*COMPARED, _chosen(report, GOOD, rng))
    arms = tuple(arm if arm.name in tried else arm.replace(path="runtime") for arm in result.arms)
    return _set(report, arms=arms, verdicts=())


@doctoring(truth=losing_codec)
def state_the_recall(report: Report, rng: random.Random) -> Report | None:
    """The answer that a codec lost is not scored, and its recall is stated instead."""
    edited = _samples(report, "hadamard_e8", lambda row: row if row.correct else row.replace(correct=None))
    return _codec(edited, "hadamard_e8", lambda arm: arm.replace(stated_recall=1.0)) if edited is not None else None
