"""Codecs of the K/V cache: bits, errors, verdicts."""

import random

from reports.records.codec_rows import CodecSample
from reports.report import Report
from tests.gate.doctoring.codec_edits import (
    BAD,
    COMPARED,
    GOOD,
    chosen,
    erring,
    praised,
    scaled,
    set_result,
    with_codec,
    with_samples,
    with_verdicts,
)
from tests.gate.doctoring.doctoring import doctoring


@doctoring()
def flip_verdict(report: Report, rng: random.Random) -> Report | None:
    """A codec that is not worthwhile is printed as such."""
    return praised(report, chosen(report, BAD, rng))


@doctoring()
def shrink_stored_bytes(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to store less, and printed as worthwhile."""
    by, name = rng.uniform(0.4, 0.7), chosen(report, BAD, rng)
    edited = with_samples(report, name, lambda row: row.replace(stored_bytes=round((row.stored_bytes or 0) * by)))
    return praised(edited, name)


@doctoring()
def shrink_stored_bytes_throughout(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to store less, entropy-coded too, and printed as worthwhile."""
    by, name = rng.uniform(0.4, 0.7), chosen(report, BAD, rng)

    def edit(row: CodecSample) -> CodecSample:
        entropy = (row.entropy_bits or 0.0) * by
        return row.replace(stored_bytes=round((row.stored_bytes or 0) * by), entropy_bits=entropy)

    return praised(with_samples(report, name, edit), name)


@doctoring()
def shrink_stored_bytes_of_some(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to store a tenth in one sample."""
    name = chosen(report, BAD, rng)
    edited = with_samples(
        report, name, lambda row: row.replace(stored_bytes=(row.stored_bytes or 0) // 10) if not row.sample else row
    )
    return praised(edited, name)


@doctoring()
def inflate_values(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to stand for more values, and printed as worthwhile."""
    name = chosen(report, BAD, rng)
    return praised(with_samples(report, name, lambda row: row.replace(values=(row.values or 0) * 2)), name)


@doctoring()
def state_fewer_bits(report: Report, rng: random.Random) -> Report | None:
    """A codec is printed with fewer bits than it stores."""
    name = chosen(report, BAD, rng)
    return praised(with_codec(report, name, lambda arm: arm.replace(stated_bits=4.0)), name)


@doctoring()
def inflate_reference_bits(report: Report, rng: random.Random) -> Report | None:
    """Affine 4 is said to store more, so that another codec stores no more."""
    edited = with_samples(report, "affine4", lambda row: row.replace(stored_bytes=round((row.stored_bytes or 0) * 1.5)))
    return praised(edited, chosen(report, BAD, rng))


@doctoring()
def affine_without_scales(report: Report, rng: random.Random) -> Report | None:
    """Affine 8 is said to store 4 bits a value, without scales."""
    edited = with_samples(report, "affine8", lambda row: row.replace(stored_bytes=(row.values or 0) // 2))
    return with_verdicts(edited, lambda arm, stated: stated or arm == "affine8")


def bad_codec(report: Report) -> Report | None:
    """The truth: a codec at few bits errs more than affine 4."""
    edited = with_samples(report, GOOD, lambda row: erring(row, 0.05 + row.sample * 1e-4, 0.04))
    return with_verdicts(edited, lambda arm, stated: False)


@doctoring(truth=bad_codec)
def shrink_errors(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to err less, and printed as worthwhile."""
    name = chosen(report, GOOD, rng)
    edited = with_samples(
        report,
        name,
        lambda row: row.replace(
            relative_error_k=(row.relative_error_k or 0.0) / 10, relative_error_v=(row.relative_error_v or 0.0) / 10
        ),
    )
    return with_verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=bad_codec)
def shrink_errors_throughout(report: Report, rng: random.Random) -> Report | None:
    """A codec is said to err less, in every layer, and printed as worthwhile."""
    name = chosen(report, GOOD, rng)
    edited = with_samples(report, name, lambda row: scaled(row, 0.1, 0.1))
    return with_verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=bad_codec)
def inflate_reference_errors_throughout(report: Report, rng: random.Random) -> Report | None:
    """Affine 4 is said to err more, in every layer."""
    name = chosen(report, GOOD, rng)
    edited = with_samples(report, "affine4", lambda row: scaled(row, 4, 8))
    return with_verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=bad_codec)
def inflate_reference_errors(report: Report, rng: random.Random) -> Report | None:
    """Affine 4 is said to err more."""
    name = chosen(report, GOOD, rng)
    edited = with_samples(
        report, "affine4",
        lambda row: row.replace(
            relative_error_k=(row.relative_error_k or 0.0) * 4, relative_error_v=(row.relative_error_v or 0.0) * 8
        ),
    )  # fmt: skip
    return with_verdicts(edited, lambda arm, stated: arm == name)


@doctoring(truth=bad_codec)
def state_smaller_error(report: Report, rng: random.Random) -> Report | None:
    """A codec is printed with a smaller error than its samples have."""
    name = chosen(report, GOOD, rng)
    edited = with_codec(report, name, lambda arm: arm.replace(stated_relative_error=0.001))
    return with_verdicts(edited, lambda arm, stated: arm == name)


def unclean(report: Report) -> Report | None:
    """The truth: storing K/V unchanged changes something."""

    def edit(row: CodecSample) -> CodecSample:
        row = erring(row, 3e-3, 0.0)
        return row if row.sample else row.replace(token_ids=(17, 18, 19, 2), token_ids_equal_oracle=False)

    return with_samples(report, "identity", edit)


@doctoring(truth=unclean)
def zero_identity_error(report: Report, rng: random.Random) -> Report | None:
    """The identity codec is said not to err; its streams stay."""
    return with_samples(report, "identity", lambda row: row.replace(relative_error_k=0.0))


@doctoring(truth=unclean)
def clean_the_identity(report: Report, rng: random.Random) -> Report | None:
    """The identity codec is said not to err, and to keep every stream."""
    return with_samples(report, "identity", lambda row: row.replace(relative_error_k=0.0, token_ids_equal_oracle=True))


@doctoring(truth=unclean)
def clean_the_identity_throughout(report: Report, rng: random.Random) -> Report | None:
    """The identity codec is said not to err in any layer, and given the oracle's streams."""
    if report.kv_quant is None:
        return None
    tokens = {row.sample: row.token_ids for row in report.kv_quant.oracle}
    return with_samples(
        report,
        "identity",
        lambda row: erring(row, 0.0, 0.0).replace(token_ids=tokens[row.sample], token_ids_equal_oracle=True),
    )


@doctoring(truth=unclean)
def drop_the_identity(report: Report, rng: random.Random) -> Report | None:
    """The identity codec goes."""
    result = report.kv_quant
    return set_result(report, arms=tuple(arm for arm in result.arms if arm.name != "identity")) if result else None


@doctoring()
def drop_the_reference(report: Report, rng: random.Random) -> Report | None:
    """Affine 4 goes, so that nothing is compared with."""
    result = report.kv_quant
    edited = set_result(report, arms=tuple(arm for arm in result.arms if arm.name != "affine4")) if result else None
    return praised(edited, chosen(report, BAD, rng))


@doctoring()
def swap_codecs(report: Report, rng: random.Random) -> Report | None:
    """A worse codec stands for affine 4, under its name."""
    result = report.kv_quant
    if result is None:
        return None
    name = chosen(report, BAD, rng)
    names = {"affine4": name, name: "affine4"}
    arms = tuple(
        arm.replace(name=names.get(arm.name, arm.name), codec=names.get(arm.codec, arm.codec)) for arm in result.arms
    )
    return praised(set_result(report, arms=arms), name)


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
            with_samples(
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
    return set_result(report, arms=arms, verdicts=())


@doctoring()
def call_it_a_runtime(report: Report, rng: random.Random) -> Report | None:
    """Codecs that are no better are said to be a runtime's, so that nobody counts them among those that were tried."""
    result = report.kv_quant
    if result is None:
        return None
    tried = (*COMPARED, chosen(report, GOOD, rng))
    arms = tuple(arm if arm.name in tried else arm.replace(path="runtime") for arm in result.arms)
    return set_result(report, arms=arms, verdicts=())


@doctoring()
def err_less_than_bits_allow(report: Report, rng: random.Random) -> Report | None:
    """A codec of 8 bits is said to err a hundredth as much, in every layer."""
    return with_samples(report, "affine8", lambda row: scaled(row, 0.01, 0.01))
