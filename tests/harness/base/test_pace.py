"""What is left of a phase, by how long its steps took."""

import pytest

from harness.base.pace import Pace, told


class Clock:
    """A clock that is set by hand."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_the_rest_takes_what_the_steps_took() -> None:
    clock = Clock()
    pace = Pace(clock)
    assert pace.left() is None
    assert pace.step(2, 10)
    assert pace.left() is None
    clock.seconds = 8.0
    assert not pace.step(4, 10)
    assert pace.left() == 4.0 * 6
    pace.step(10, 10)
    assert pace.left() is None


def test_another_phase_is_timed_anew() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.step(0, 3)
    clock.seconds = 30.0
    pace.step(1, 3)
    assert pace.step(1, 50)
    clock.seconds = 31.0
    pace.step(2, 50)
    assert pace.left() == 48.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (7.4, "7 s"), (43.0, "40 s"), (99.0, "100 s"), (150.0, "2 min"), (7000.0, "2 h")],
)
def test_an_estimate_is_told_as_roughly_as_it_is_known(seconds: float, text: str) -> None:
    assert told(seconds) == text
