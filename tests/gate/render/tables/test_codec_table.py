"""Codecs in a table: means over samples, and nothing where the rows lack something."""

import pytest

from gate.figures.statistics.intervals import Share
from gate.render.tables.codec_table import family_of, summarise_codecs
from reports.records.codec_rows import CodecArm, KvQuantResult
from tests.gate.honest import Setup, measured_kv_quant


def result() -> KvQuantResult:
    found = measured_kv_quant(Setup(samples=4)).kv_quant
    assert found is not None
    return found


def test_means_are_over_the_samples() -> None:
    oracle, identity, _, affine4, *_ = summarise_codecs(result())
    assert (oracle.name, oracle.recalled, oracle.second) == ("oracle", Share(4, 4), Share(4, 4))
    assert (oracle.decode_tok_s or 0) > 0
    assert identity.error == 0
    assert affine4.bits == pytest.approx(4.5, rel=1e-4)
    assert affine4.error == pytest.approx((0.018 + 0.0099) / 2, rel=0.1)
    assert affine4.flips == Share(4, 192)
    assert affine4.same_streams == Share(4, 4)


def test_a_mean_needs_every_sample() -> None:
    arm = result().arms[2]
    rows = (arm.samples[0].replace(relative_error_k=None, entropy_bits=None), *arm.samples[1:])
    (summary,) = summarise_codecs(KvQuantResult(arms=(arm.replace(samples=rows),)))
    assert summary.error_k is None
    assert summary.error is None
    assert summary.entropy_bits is None
    assert summary.error_v is not None


@pytest.mark.parametrize(
    ("name", "family"),
    [("affine4", "affine"), ("affine8-g32", "affine-g32"), ("hadamard-e8-3", "hadamard-e8"), ("d4-6", "d4"),
     ("identity", None)],
)  # fmt: skip
def test_a_family_is_a_codec_without_its_bits(name: str, family: str | None) -> None:
    assert family_of(CodecArm(name=name, codec=name, samples=())) == family


def test_mixed_arms_have_no_family_and_the_runtime_its_own() -> None:
    assert family_of(CodecArm(name="k8-v4", codec="affine8 / affine4", samples=())) is None
    assert family_of(CodecArm(name="x4", codec="mlx-lm, affine4", path="runtime", samples=())) == "mlx-lm"
