import pytest

from reports.records.claims import MemoryClaim
from reports.records.kv_memory import ArmMemory
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.cases.bases import f_theta
from tests.gate.cases.memory import analytic
from tests.gate.edits import edit_arm, set_first_row, set_rows, without_arm
from tests.gate.rules.memory.tables import CLAIM, by_formula, measured, table


def peaks(arm: int, oracle: int) -> Report:
    """Peaks of both arms; the projecting arm saves some 25 MB of K/V."""
    return set_rows(set_rows(f_theta(), "f_theta", peak_bytes=arm), "oracle", peak_bytes=oracle)


def test_an_analytic_claim_needs_a_table_that_the_bytes_support() -> None:
    assert not ask("MEMORY_CLAIM_MISMATCH", by_formula(f_theta()), CLAIM)
    assert found("MEMORY_CLAIM_MISMATCH", by_formula(f_theta().replace(memory=None)), CLAIM) == ["none"]
    unmeasured = set_rows(f_theta(), "f_theta", kv_bytes_prefill=None)
    assert found("MEMORY_CLAIM_MISMATCH", by_formula(unmeasured), CLAIM) == ["unknown"]
    assert found("MEMORY_CLAIM_MISMATCH", by_formula(measured(1.2)), CLAIM) == ["false"]


def test_a_stated_flag_cannot_make_the_formula_match_but_can_deny_it() -> None:
    for stated in ({"formula_matches_run": True}, {"stated_formula_matches_run": True}):
        report = table(set_rows(f_theta(), "f_theta", kv_bytes_prefill=None), **stated)
        assert ask("MEMORY_CLAIM_MISMATCH", by_formula(report), CLAIM)
    assert ask("MEMORY_CLAIM_MISMATCH", by_formula(table(f_theta(), formula_matches_run=False)), CLAIM)


@pytest.mark.parametrize("field", ["kv_bytes_prefill", "kv_bytes_decode"])
@pytest.mark.parametrize("arm", ["f_theta", "oracle"])
def test_both_arms_are_measured_at_both_stages_in_every_row(arm: str, field: str) -> None:
    assert not ask("MEMORY_NOT_MEASURED", by_formula(f_theta()), CLAIM)
    report = by_formula(set_first_row(f_theta(), arm, **{field: None}))
    assert found("MEMORY_NOT_MEASURED", report, CLAIM) == ["1"]


def test_a_saving_needs_something_to_save_against() -> None:
    assert ask("MEMORY_NOT_MEASURED", by_formula(without_arm(f_theta(), "oracle")), CLAIM)


def test_a_measured_saving_may_cost_less_than_it_saves_and_a_formula_nothing() -> None:
    assert not ask("MEMORY_PEAK_ROSE", f_theta(), CLAIM)
    assert not ask("MEMORY_PEAK_ROSE", peaks(510_000_000, 500_000_000), CLAIM)
    assert ask("MEMORY_PEAK_ROSE", peaks(530_000_000, 500_000_000), CLAIM)
    assert ask("MEMORY_PEAK_ROSE", by_formula(peaks(500_000_001, 500_000_000)), CLAIM)
    assert not ask("MEMORY_PEAK_ROSE", by_formula(peaks(500_000_000, 500_000_000)), CLAIM)


@pytest.mark.parametrize("arm", ["f_theta", "oracle"])
def test_a_peak_that_is_not_recorded_is_not_a_lower_one(arm: str) -> None:
    assert found("MEMORY_PEAK_ROSE", set_first_row(f_theta(), arm, peak_bytes=None), CLAIM) == ["none"]


def test_the_memory_of_the_specification_saves_what_it_says() -> None:
    """A 30-layer hybrid, full attention at 5, 11, 17, 23, 29; 5,810 tokens; sink + window 68: 89.8 %."""
    from gate.figures.kv_memory import analytic_saving, full_bytes, resident_bytes
    from reports.records.kv_memory import LayerMemory

    def layer(number: int) -> LayerMemory:
        full = number % 6 == 5
        positions, bytes_ = (5810, 4096) if full else (68, 8192)
        return LayerMemory(
            layer=number,
            kind="full_attention" if full else "sliding_attention",
            bytes_per_token=bytes_,
            resident_positions=positions,
            resident_bytes=positions * bytes_,
        )

    spec = ArmMemory(arm="x", sequence_length=5810, layers=tuple(map(layer, range(30))), total_bytes=0, full_kv_bytes=0)
    assert resident_bytes(spec) == 13_926_400 + 118_988_800
    assert full_bytes(spec) == pytest.approx(1308.88e6, rel=1e-5)
    assert analytic_saving(spec) == pytest.approx(0.898, abs=5e-4)


def test_the_case_of_the_formula_is_the_one_tested_here() -> None:
    claim = next(one for one in analytic(by_formula(f_theta())).claims if one.name == CLAIM)
    assert isinstance(claim, MemoryClaim)
    assert claim.basis == "analytic"


def test_an_f_theta_that_makes_its_keys_anew_says_how_many_bytes_are_features() -> None:
    report = f_theta()
    for counted, fires in ((2304, False), (0, True), (None, True)):
        told = edit_arm(
            report,
            "f_theta",
            lambda arm, counted=counted: arm.replace(restoration=arm.restoration.replace(feature_bytes=counted)),
        )
        assert ("over 0" in {one.allowed for one in ask("MEMORY_NOT_MEASURED", told, CLAIM)}) is fires
