import pytest

from reports.report import Report
from tests.gate.asking import ask, found, named
from tests.gate.cases.bases import kv_quant
from tests.gate.cases.kv_quant import edit_codec
from tests.gate.rules.kv_quant.codec_edits import bits, samples

CLAIM = named(kv_quant(), "kv_codec_worthwhile/lattice_d4")


def mixed(k: str, v: str, layers: tuple[int, ...], bits: float) -> Report:
    """The lattice arm as one with a codec for K, one for V, in some of three layers."""
    return edit_codec(
        kv_quant(),
        "lattice_d4",
        lambda arm: arm.replace(
            codec=f"{k} / {v}",
            codec_k=k,
            codec_v=v,
            layers=layers,
            samples=tuple(row.replace(stored_bytes=round(bits * row.values / 8)) for row in arm.samples),
        ),
    )


@pytest.mark.parametrize("name", ["lattice_d4", "affine4"])
def test_bits_are_counted_for_the_codec_and_for_its_reference(name: str) -> None:
    assert not ask("KVQUANT_RATE", kv_quant(), CLAIM)
    assert found("KVQUANT_RATE", samples(kv_quant(), name, stored_bytes=None), CLAIM) == ["0"]
    assert not ask("KVQUANT_RATE", samples(kv_quant(), "hadamard_e8", stored_bytes=None), CLAIM)


@pytest.mark.parametrize(("wanted", "fires"), [(4.0, True), (4.09, True), (4.125, False), (6.0, False), (6.1, True)])
def test_an_affine_codec_stores_its_scales(wanted: float, fires: bool) -> None:
    assert bool(ask("KVQUANT_RATE", bits(kv_quant(), "affine4", wanted), CLAIM)) is fires


def test_a_stated_rate_is_the_counted_one() -> None:
    for stated, fires in ((4.5, False), (4.52, False), (4.0, True)):
        report = edit_codec(kv_quant(), "affine4", lambda arm, stated=stated: arm.replace(stated_bits=stated))
        assert bool(ask("KVQUANT_RATE", report, CLAIM)) is fires


def test_a_codec_has_one_rate() -> None:
    def first_smaller(arm):  # type: ignore[no-untyped-def]
        first = arm.samples[0]
        return arm.replace(samples=(first.replace(stored_bytes=first.stored_bytes // 2), *arm.samples[1:]))

    assert ask("KVQUANT_RATE", edit_codec(kv_quant(), "lattice_d4", first_smaller), CLAIM)


def test_a_codec_stands_for_the_numbers_its_reference_stands_for() -> None:
    more = edit_codec(
        kv_quant(),
        "lattice_d4",
        lambda arm: arm.replace(
            samples=tuple(row.replace(values=row.values * 2, stored_bytes=row.stored_bytes * 2) for row in arm.samples)
        ),
    )
    easier = edit_codec(kv_quant(), "lattice_d4", lambda arm: arm.replace(samples=arm.samples[:1]))
    for report in (more, easier):
        assert [finding.field for finding in ask("KVQUANT_RATE", report, CLAIM)] == ["values"]


@pytest.mark.parametrize(
    ("k", "v", "layers", "bits", "fires"),
    [
        ("affine8", "affine4", (0, 1, 2), 6.5, False),
        ("affine8", "affine4", (0, 1, 2), 4.5, True),
        ("affine8", "affine4", (0, 1, 2), 8.5, True),
        ("affine4", "affine4", (0,), (4.5 + 2 * 32) / 3, False),
        ("affine4", "affine4", (0,), 4.5, True),
        ("affine4", "identity", (0, 1, 2), (4.5 + 32) / 2, False),
        ("affine4", "identity", (0, 1, 2), 4.5, True),
        ("e8-4", "e8-4", (0, 1, 2), 4.5, False),
        ("e8-6", "e8-6", (0, 1, 2), 4.5, True),
        ("ours", "affine4", (0, 1, 2), 40.0, False),
    ],
)
def test_codecs_of_k_and_v_and_layers_left_out_are_counted(
    k: str, v: str, layers: tuple[int, ...], bits: float, fires: bool
) -> None:
    assert bool(ask("KVQUANT_RATE", mixed(k, v, layers, bits), CLAIM)) is fires
