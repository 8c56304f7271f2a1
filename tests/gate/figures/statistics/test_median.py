import statistics
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from gate.figures.statistics.median import median


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9))
def test_it_is_the_one_of_the_standard_library(values: list[float]) -> None:
    assert median(iter(values)) == statistics.median(values)


def test_listing_rules_does_without_that_library_and_without_records() -> None:
    program = (
        "import sys; from harness.cli import run; run(['gate', 'rules']); "
        "print([name for name in ('statistics', 'pydantic') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "[]"
