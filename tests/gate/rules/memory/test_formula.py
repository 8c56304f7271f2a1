import pytest

from reports.records.kv_memory import ArmMemory
from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.cases.bases import f_theta
from tests.gate.edits import edit_rows
from tests.gate.honest.setup import FEATURE_BYTES
from tests.gate.rules.memory.tables import CLAIM, by_formula, measured, table


def own(report: Report) -> ArmMemory:
    """The table of the projecting arm."""
    assert report.memory is not None
    return next(one for one in report.memory.arms if one.arm == "f_theta")


def test_a_measured_claim_makes_no_use_of_the_formula_but_is_held_to_it() -> None:
    assert not ask("MEMORY_CLAIM_MISMATCH", f_theta().replace(memory=None), CLAIM)
    assert found("MEMORY_ANALYTIC_GAP", f_theta().replace(memory=None), CLAIM) == ["none"]


def test_features_are_counted_where_the_arm_keeps_them_and_nowhere_else() -> None:
    assert "1000000" in found("MEMORY_ANALYTIC_GAP", table(f_theta(), feature_bytes=10**6), CLAIM)


@pytest.mark.parametrize(("factor", "fires"), [(0.951, False), (1.049, False), (0.949, True), (1.051, True)])
def test_formula_and_measurement_lie_within_a_twentieth(factor: float, fires: bool) -> None:
    assert bool(ask("MEMORY_ANALYTIC_GAP", measured(factor), CLAIM)) is fires


def test_a_table_adds_up() -> None:
    report = f_theta()
    first = own(report).layers[0]
    for changes in (
        {"total_bytes": own(report).total_bytes - 1},
        {"full_kv_bytes": own(report).full_kv_bytes + 1},
        {"layers": (first.replace(resident_bytes=1), *own(report).layers[1:])},
        {"layers": (first.replace(resident_positions=10**6, resident_bytes=1536 * 10**6), *own(report).layers[1:])},
    ):
        assert ask("MEMORY_ANALYTIC_GAP", table(report, **changes), CLAIM)


def test_a_table_is_about_a_prompt_that_ran() -> None:
    report = f_theta()
    longer = own(report).sequence_length * 100
    layers_bytes = sum(layer.bytes_per_token for layer in own(report).layers)
    stretched = table(report, sequence_length=longer, full_kv_bytes=longer * layers_bytes)
    assert str(longer) in found("MEMORY_ANALYTIC_GAP", stretched, CLAIM)
    assert ask("MEMORY_ANALYTIC_GAP", table(report, sample=7), CLAIM)


def test_a_table_has_every_layer_and_holds_what_the_settings_keep() -> None:
    report = f_theta()
    layers = own(report).layers
    fewer = layers[:-1]
    shrunk = tuple(layer.replace(resident_positions=67, resident_bytes=67 * 1536) for layer in layers)
    for kept in (fewer, shrunk):
        total, full = (sum(one) for one in zip(*((x.resident_bytes, x.bytes_per_token) for x in kept), strict=True))
        edited = table(report, layers=kept, total_bytes=total, full_kv_bytes=full * own(report).sequence_length)
        assert ask("MEMORY_ANALYTIC_GAP", edited, CLAIM)


def test_restored_positions_that_stay_resident_are_in_the_table() -> None:
    report = f_theta()
    arms = tuple(
        arm.replace(restoration=arm.restoration.replace(residency="resident"))
        if arm.name == "f_theta" and arm.restoration is not None
        else arm
        for arm in report.arms
    )
    assert ask("MEMORY_ANALYTIC_GAP", report.replace(arms=arms), CLAIM)


def test_a_saving_by_formula_is_not_against_more_than_the_oracle_held() -> None:
    """A model that bounds its own sliding layers never holds the full cache of the formula."""
    small = edit_rows(
        f_theta(), "oracle", lambda row: row.replace(kv_bytes_prefill=round((row.kv_bytes_prefill or 0) * 0.9))
    )
    assert ask("MEMORY_ANALYTIC_GAP", by_formula(small), CLAIM)
    assert not ask("MEMORY_ANALYTIC_GAP", small, CLAIM)


def test_the_oracle_holds_a_full_cache_of_the_tables_layers_and_a_step_of_room_at_most() -> None:
    """Half the bytes a token, in the table and in the arm alike, are not those of the model the oracle ran."""
    report = f_theta()
    roomy = edit_rows(
        report,
        "oracle",
        lambda row: row.replace(kv_bytes_prefill=-(-(row.prompt_tokens or 0) // 256) * 256 * 30 * 1536),
    )
    assert not ask("MEMORY_ANALYTIC_GAP", roomy, CLAIM)
    features = own(report).feature_bytes or 0
    halved = tuple(
        layer.replace(bytes_per_token=768, resident_bytes=layer.resident_bytes // 2) for layer in own(report).layers
    )
    smaller = table(
        report,
        layers=halved,
        total_bytes=(own(report).total_bytes - features) // 2 + features,
        full_kv_bytes=own(report).full_kv_bytes // 2,
    )

    def half(row: Measurement) -> Measurement:
        own_features = FEATURE_BYTES * (row.prompt_tokens or 0)
        return row.replace(kv_bytes_prefill=((row.kv_bytes_prefill or 0) - own_features) // 2 + own_features)

    smaller = edit_rows(smaller, "f_theta", half)
    assert [finding.field for finding in ask("MEMORY_ANALYTIC_GAP", smaller, CLAIM)] == ["memory.full_kv_bytes"]
