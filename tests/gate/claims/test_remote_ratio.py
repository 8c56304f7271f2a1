import pytest

from gate.claims.remote_ratio import remote_ratio, twin_of
from reports.records.measurement import Arm, RoundTrip, ServedBy
from reports.report import Report
from tests.gate.figures.rows import arm, row

HERE = arm(*(row(sample, decode_s=1.0) for sample in range(3)), name="here")


def there(trip: float, decode_s: float = 1.5) -> Arm:
    trips = RoundTrip(prefill_s=0.1, decode_s=trip)
    rows = (row(sample, decode_s=decode_s, round_trip=trips) for sample in range(3))
    return arm(*rows, name="there").replace(served_by=ServedBy(protocol="k3.sessions.v1"))


def report(*arms: Arm) -> Report:
    return Report(kind="code", report_id="x", arms=arms)


def test_the_round_trip_is_taken_off_the_decode_time() -> None:
    ratio = remote_ratio(there(0.5), HERE, {})
    assert ratio is not None
    assert ratio.here == "here"
    assert ratio.raw.value == pytest.approx(1 / 1.5)
    assert ratio.without_trip.value == pytest.approx(1.0)
    assert ratio.overhead_s == pytest.approx(0.05)  # half a second over ten tokens


def test_a_round_trip_that_leaves_no_time_gives_no_ratio() -> None:
    assert remote_ratio(there(1.5), HERE, {}) is None
    assert remote_ratio(there(2.0), HERE, {}) is None


def test_rows_without_a_partner_give_no_ratio() -> None:
    assert remote_ratio(there(0.5), arm(name="here"), {}) is None


def test_the_twin_ran_here_in_the_same_way() -> None:
    remote = there(0.5)
    other = HERE.replace(name="other", engine="incremental")
    assert twin_of(report(other, HERE, remote), remote) == HERE
    assert twin_of(report(other, remote), remote) is None
    assert twin_of(report(HERE, remote), HERE) is None
