from collections.abc import Callable
from typing import Any

import pytest

from tests.gate.asking import ask, found
from tests.gate.cases.bases import kv_quant
from tests.gate.cases.kv_quant import edit_codec, errs, halved_error
from tests.gate.rules.kv_quant.codec_edits import first, oracle


def test_honest_rows_add_up() -> None:
    assert not ask("KVQUANT_ARITHMETIC", kv_quant())
    assert not ask("KVQUANT_ORDER", kv_quant())


def test_an_error_is_that_of_its_layers() -> None:
    (finding,) = ask("KVQUANT_ARITHMETIC", halved_error(kv_quant()))
    assert (finding.arm, finding.field, finding.severity) == ("lattice_d4", "relative_error_k", None)
    fewer = first(kv_quant(), "affine4", lambda row: row.replace(layers=row.layers[1:]))
    assert [finding.field for finding in ask("KVQUANT_ARITHMETIC", fewer)] == ["relative_error_k", "relative_error_v"]


def test_a_stream_is_the_oracles_or_is_not() -> None:
    for edit in (
        lambda row: row.replace(token_ids_equal_oracle=False),
        lambda row: row.replace(token_ids=(*row.token_ids, 5)),
        lambda row: row.replace(second=row.second.replace(token_ids=(5,))),
        lambda row: row.replace(second=row.second.replace(token_ids_equal_oracle=None)),
    ):
        (finding,) = ask("KVQUANT_ARITHMETIC", first(kv_quant(), "affine8", edit))
        assert (finding.field or "").endswith("token_ids_equal_oracle")


@pytest.mark.parametrize("field", ["token_ids", "layers", "held_out", "second", "stored_bytes", "values"])
def test_what_a_run_records_is_there(field: str) -> None:
    missing = () if field == "layers" else None
    (finding,) = ask("KVQUANT_ARITHMETIC", first(kv_quant(), "affine8", lambda row: row.replace(**{field: missing})))
    assert (finding.field, finding.severity) == (field, "withheld")


def test_without_the_oracles_rows_nothing_can_be_compared() -> None:
    report = kv_quant()
    assert report.kv_quant is not None
    without = ask("KVQUANT_ARITHMETIC", report.replace(kv_quant=report.kv_quant.replace(oracle=())))
    assert {finding.severity for finding in without} == {"withheld"}
    assert without[0].field == "kv_quant.oracle"


def test_the_oracles_recall_is_that_of_its_rows() -> None:
    report = kv_quant()
    assert report.kv_quant is not None
    assert found("KVQUANT_ARITHMETIC", report.replace(kv_quant=report.kv_quant.replace(oracle_recall=0.5))) == ["0.5"]


def test_an_oracle_that_measured_nothing_is_found() -> None:
    energies = kv_quant().kv_quant.oracle[0].energies  # type: ignore[union-attr]
    nothing = (energies[0].replace(k=0.0), *energies[1:])
    for changes in ({"energies": nothing}, {"decode_s": 0.0}, {"token_ids": ()}):
        assert any(finding.arm == "oracle" for finding in ask("KVQUANT_ARITHMETIC", oracle(kv_quant(), **changes)))


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        (lambda row: row.replace(held_out=row.held_out.replace(kl_divergence=-1e-3)), "held_out.kl_divergence"),
        (lambda row: row.replace(held_out=row.held_out.replace(tokens=0, top1_flips=0)), "held_out.kl_divergence"),
        (lambda row: row.replace(held_out=row.held_out.replace(top1_flips=49)), "held_out.top1_flips"),
        (lambda row: row.replace(entropy_bits=8.6), "entropy_bits"),
        (lambda row: row.replace(layers=(row.layers[0].replace(attention=-0.1), *row.layers[1:])), "layers.0"),
    ],
)
def test_no_figure_is_impossible(edit: Callable[[Any], Any], field: str) -> None:
    assert [finding.field for finding in ask("KVQUANT_ARITHMETIC", first(kv_quant(), "affine8", edit))] == [field]


def test_more_bits_err_less() -> None:
    (finding,) = ask("KVQUANT_ORDER", errs(kv_quant(), "affine8", k=0.05, v=0.05))
    assert finding.arm == "affine8"
    other = edit_codec(errs(kv_quant(), "affine8", k=0.05, v=0.05), "affine8", lambda arm: arm.replace(codec="mine"))
    assert not ask("KVQUANT_ORDER", other)


def test_a_runtimes_cache_holds_what_it_stores_and_only_a_runtime_has_one() -> None:
    small = first(kv_quant(), "affine8", lambda row: row.replace(resident_bytes=row.stored_bytes - 1))
    assert [finding.field for finding in ask("KVQUANT_ARITHMETIC", small)] == ["path", "resident_bytes"]


@pytest.mark.parametrize(
    "changes", [{"codec": "affine3"}, {"codec_v": "affine3"}, {"layers": (0,)}, {"path": "runtime"}]
)
def test_the_reference_is_what_it_is_called(changes: dict[str, Any]) -> None:
    report = kv_quant()
    assert report.kv_quant is not None
    arms = tuple(arm.replace(**changes) if arm.name == "affine4" else arm for arm in report.kv_quant.arms)
    found = ask("KVQUANT_ARITHMETIC", report.replace(kv_quant=report.kv_quant.replace(arms=arms)))
    assert (found[0].arm, found[0].field) == ("affine4", "codec")
