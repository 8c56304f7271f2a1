from gate.rulebook.thresholds import MIN_PARITY_TOKENS
from gate.rules.parity.shown_parity import parity_key, parity_shown
from reports.records.drafter_parity import ParityResult
from reports.report import Report
from tests.gate.figures.parity_blocks import block, blocks, parity
from tests.gate.honest import Setup, measured_parity


def holds(result: ParityResult) -> bool:
    """A parity report with this result shows something."""
    provenance = measured_parity(Setup(samples=1)).provenance
    return bool(parity_shown(Report(kind="parity", report_id="x", provenance=provenance, parity=result)))


def test_parity_holds_from_the_least_number_of_tokens_on() -> None:
    enough = MIN_PARITY_TOKENS.value // 8
    assert holds(parity(*blocks(enough)))
    assert not holds(parity(*blocks(enough - 1)))


def test_one_block_many_times_is_one_block() -> None:
    assert not holds(parity(*(blocks(1) * 40)))


def test_a_runtime_that_agrees_with_itself_shows_nothing() -> None:
    assert not holds(parity(*blocks(10), candidate="torch"))


def test_parity_is_shown_for_the_weights_and_runtimes_it_was_run_with() -> None:
    report = measured_parity(Setup(samples=3))
    assert report.parity is not None
    weights = report.parity.drafter_weights or ""
    assert parity_shown(report) == {parity_key(weights, name) for name in ("torch", "mlx")}
    assert parity_shown(report.replace(parity=report.parity.replace(drafter_weights=None))) == frozenset()
    assert parity_shown(report.replace(parity=parity(block(0, (1,), (2,)), *blocks(9)))) == frozenset()
    assert parity_shown(report.replace(parity=None)) == frozenset()
