import pytest

from gate.judging.judge import conclude
from reports.report import Report
from tests.gate.asking import ask
from tests.gate.cases.recall import say
from tests.gate.edits import set_first_row, without_arm
from tests.gate.honest import Setup, measured_niah

CLAIM, ORACLE, NATIVE = "restoration_recall/identity", "oracle_recall/oracle", "native_baseline_recall/native"


def niah(samples: int = 5, **changes: object) -> Report:
    """A needle report, each prompt once."""
    return measured_niah(Setup(**({"samples": samples, "repeats": 1} | changes)))  # type: ignore[arg-type]


@pytest.mark.parametrize(("forgotten", "fires"), [(1, False), (2, True)])
def test_the_oracle_recalls_four_of_five(forgotten: int, fires: bool) -> None:
    report = say(niah(), "oracle", "ablate", range(forgotten))
    assert bool(ask("ORACLE_RECALL_LOW", report, CLAIM)) is fires


def test_a_low_oracle_is_no_headline_of_its_own() -> None:
    low = conclude(say(niah(), "oracle", "ablate", range(5)))
    claim = next(one for one in low.claims if one.name == ORACLE)
    assert "ORACLE_RECALL_LOW" in claim.withheld_by
    assert "does not fit the model" in ask("ORACLE_RECALL_LOW", low, ORACLE)[0].message
    assert not ask("ORACLE_RECALL_LOW", niah(), ORACLE)


def test_without_a_scored_oracle_nothing_is_known() -> None:
    assert ask("ORACLE_RECALL_LOW", set_first_row(niah(), "oracle", correct=None), CLAIM)
    assert ask("ORACLE_RECALL_LOW", without_arm(niah(), "oracle"), CLAIM)
