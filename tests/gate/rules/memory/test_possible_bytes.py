from typing import Any

import pytest

from reports.records.measurement import DrafterInfo, Measurement
from reports.records.provenance import ModelInfo
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.edits import edit_arm, edit_rows, set_first_row, set_rows
from tests.gate.honest import Setup, measured_niah, provenance

ARM, CLAIM = "f_theta", "kv_saving/f_theta"

WEIGHTS = "sha256:" + "d" * 64

A_POSITION = 1024

HELD = ("kv_bytes_prefill", "kv_bytes_decode", "peak_bytes")


def drafting(name: str = "dflash", layer: str = "full_attention") -> Report:
    """A projecting arm that drafts with a model, its context counted with the K/V."""
    report = measured_niah(Setup(samples=3, repeats=1, suts=(ARM,)))
    models = (
        *(report.provenance.models if report.provenance is not None else ()),
        ModelInfo(role="drafter", id="drafter", weights=WEIGHTS, layer_types=(layer,)),
    )
    report = report.replace(provenance=provenance().replace(models=models))
    drafter = DrafterInfo(name=name, weights=WEIGHTS, runtime="mlx", block_size=8)
    report = edit_arm(report, ARM, lambda arm: arm.replace(engine="fused", drafter=drafter))
    return edit_rows(report, ARM, lambda row: holding(row, A_POSITION * (row.prompt_tokens or 0)))


def holding(row: Measurement, context: int) -> Measurement:
    """The row with so many bytes of context beside what it held."""
    return row.replace(drafter_bytes_prefill=context, **{name: getattr(row, name) + context for name in HELD})


def let_go(row: Measurement) -> Measurement:
    """The row without the bytes of its context."""
    return row.replace(**{name: getattr(row, name) - (row.drafter_bytes_prefill or 0) for name in HELD})


def impossible(report: Report) -> list[str | None]:
    return [finding.field for finding in ask("BYTES_IMPOSSIBLE", report)]


@pytest.mark.parametrize("name", ["dflash", "combined", "model", "shuffled dflash"])
@pytest.mark.parametrize("told", [None, 0])
def test_a_saving_is_measured_with_the_context_of_the_drafter(name: str, told: int | None) -> None:
    report = drafting(name)
    assert not ask("MEMORY_NOT_MEASURED", report, CLAIM)
    assert not ask("BYTES_IMPOSSIBLE", report)
    without = edit_rows(report, ARM, lambda row: let_go(row).replace(drafter_bytes_prefill=told))
    assert found("MEMORY_NOT_MEASURED", without, CLAIM) == ["0"]
    one = set_first_row(report, ARM, drafter_bytes_prefill=told)
    assert found("MEMORY_NOT_MEASURED", one, CLAIM) == ["2"]


def test_a_drafter_without_weights_has_none() -> None:
    assert not ask("MEMORY_NOT_MEASURED", set_rows(drafting("ngram"), ARM, drafter_bytes_prefill=0), CLAIM)


def test_the_context_is_not_all_there_is() -> None:
    report = edit_rows(drafting(), ARM, lambda row: row.replace(drafter_bytes_prefill=row.kv_bytes_prefill))
    assert "drafter_bytes_prefill" in impossible(report)


def test_what_a_drafting_arm_holds_does_not_shrink() -> None:
    def shrunk(row: Measurement) -> Measurement:
        return row.replace(kv_bytes_decode=(row.kv_bytes_decode or 0) - (row.drafter_bytes_prefill or 0))

    assert impossible(edit_rows(drafting(), ARM, shrunk)) == ["kv_bytes_decode"]


@pytest.mark.parametrize(
    ("contexts", "tokens", "layer", "fires"),
    [
        ((100, 200, 300), (400, 700, 1000), "full_attention", False),
        ((100, 100, 200), (400, 500, 600), "full_attention", False),
        ((100, 100, 100), (400, 500, 600), "full_attention", False),
        ((100, 100, 100), (400, 600, 800), "full_attention", True),
        ((100, 100, 100), (400, 600, 800), "sliding_attention", False),
        ((200, 100, 300), (400, 700, 1000), "full_attention", True),
        ((300, 200, 100), (400, 410, 420), "sliding_attention", True),
    ],
)
def test_the_context_grows_with_the_prompt(
    contexts: tuple[int, ...], tokens: tuple[int, ...], layer: str, fires: bool
) -> None:
    def edit(row: Measurement) -> Measurement:
        changes: dict[str, Any] = {
            "drafter_bytes_prefill": contexts[row.sample], "prompt_tokens": tokens[row.sample]
        }  # fmt: skip
        return row.replace(**changes)

    report = edit_rows(drafting(layer=layer), ARM, edit)
    assert ("drafter_bytes_prefill" in impossible(report)) is fires
