"""Components that did not run, and rows edited to say that they did."""

import random

from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.doctoring.arms import without
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import ablated, any_row, of_role, restoring
from tests.gate.doctoring.reshape import arm_of, edit_all_rows, timed
from tests.gate.edits import edit_rows


def _restoring_arms(report: Report) -> list[str]:
    modes = ("identity", "f_theta")
    return [arm.name for arm in report.arms if arm.restoration is not None and arm.restoration.mode in modes]


def fell_back(report: Report) -> Report | None:
    """The truth: every arm under test fell back to the plain loop in some rows."""
    names = [arm.name for arm in report.arms if arm.role == "sut"]
    for name in names:
        report = edit_rows(
            report, name, lambda row: row.replace(fallbacks=("plain loop",)), where=lambda row: row.sample == 0
        )
    return report if names else None


@doctoring(truth=fell_back)
def remove_fallbacks(report: Report, rng: random.Random) -> Report | None:
    """Fallbacks that were taken are deleted."""
    return edit_all_rows(report, [arm.name for arm in report.arms], lambda row: row.replace(fallbacks=()))


@doctoring(truth=fell_back)
def forget_fallbacks(report: Report, rng: random.Random) -> Report | None:
    """Rows do not say any more whether a fallback was taken."""
    return edit_all_rows(report, [arm.name for arm in report.arms], lambda row: row.replace(fallbacks=None))


@doctoring(truth=fell_back)
def remove_failed_arms(report: Report, rng: random.Random) -> Report | None:
    """Arms that fell back go, with order and memory to match; the others stay as they were."""
    for arm in report.arms:
        if any(row.fallbacks for row in arm.measurements):
            report = without(report, arm.name)
    return report


def _native(row: Measurement) -> Measurement:
    row = row.replace(restoration_active=False, restored_positions=0)
    return timed(row, restoration_s=0.0)


def holding_all(report: Report, name: str) -> Report:
    """An arm whose rows held what the oracle's held, and no table that says otherwise."""
    oracle = of_role(report, "oracle")
    assert oracle is not None
    held = {(row.sample, row.repeat): row for row in oracle.measurements}

    def edit(row: Measurement) -> Measurement:
        names = ("kv_bytes_prefill", "kv_bytes_decode")
        return row.replace(**{field: getattr(held[row.sample, row.repeat], field) for field in names})

    if report.memory is not None:
        tables = tuple(table for table in report.memory.arms if table.arm != name)
        report = report.replace(memory=report.memory.replace(arms=tables) if tables else None)
    return edit_rows(report, name, edit)


def never_restored(report: Report) -> Report | None:
    """The truth: an arm that should restore restored nothing; it recalled from its own cache."""
    names = _restoring_arms(report)
    for name in names:
        report = edit_rows(report, name, lambda row: _native(row).replace(evicted_positions=0))
        report = holding_all(report, name)
    return report if names else None


@doctoring(truth=never_restored)
def flip_restoration_active(report: Report, rng: random.Random) -> Report | None:
    """Rows that restored nothing say that restoration was active."""
    return edit_all_rows(report, _restoring_arms(report), lambda row: row.replace(restoration_active=True))


@doctoring(truth=never_restored)
def forge_restored_positions(report: Report, rng: random.Random) -> Report | None:
    """Rows that restored nothing say that they restored and evicted thousands of positions; times stay."""
    return _forged(report, seconds=None)


@doctoring(truth=never_restored)
def forge_quick_restoration(report: Report, rng: random.Random) -> Report | None:
    """Rows that restored nothing say that they did, in a tenth of a millisecond."""
    return _forged(report, seconds=1e-4)


@doctoring(truth=never_restored)
def forge_restoration_throughout(report: Report, rng: random.Random) -> Report | None:
    """Rows that restored nothing say that they did, with positions and seconds as the control evicts."""
    return _forged(report, seconds=0.02)


def _forged(report: Report, seconds: float | None) -> Report | None:
    control = ablated(report)
    if control is None:
        return None
    gone = {(row.sample, row.repeat): row.evicted_positions or 0 for row in control.measurements}

    def edit(row: Measurement) -> Measurement:
        count = gone[row.sample, row.repeat]
        row = row.replace(restoration_active=True, restored_positions=count, evicted_positions=count)
        return timed(row, restoration_s=seconds + row.order * 1e-5) if seconds is not None and row.order else row

    return edit_all_rows(report, _restoring_arms(report), edit)


def mixed(report: Report) -> Report | None:
    """The truth: a restoring arm ran natively on its first prompt, on a cache that kept everything."""
    oracle, names = of_role(report, "oracle"), _restoring_arms(report)
    if oracle is None or not names:
        return None
    held = {(row.sample, row.repeat): row for row in oracle.measurements}

    def edit(row: Measurement) -> Measurement:
        fields = ("kv_bytes_prefill", "kv_bytes_decode")
        return _native(row).replace(**{field: getattr(held[row.sample, row.repeat], field) for field in fields})

    for name in names:
        report = edit_rows(report, name, edit, where=lambda row: row.sample == 0)
    return report


@doctoring(truth=mixed)
def flip_mixed_rows(report: Report, rng: random.Random) -> Report | None:
    """Rows that ran natively say that restoration was active."""
    return edit_all_rows(report, _restoring_arms(report), lambda row: row.replace(restoration_active=True))


@doctoring(truth=mixed)
def forge_mixed_rows(report: Report, rng: random.Random) -> Report | None:
    """Rows that ran natively get the positions of what they evicted, and seconds, as if restored."""

    def edit(row: Measurement) -> Measurement:
        if row.restoration_active:
            return row
        row = row.replace(restoration_active=True, restored_positions=row.evicted_positions)
        return timed(row, restoration_s=(row.evicted_positions or 0) * 1.2e-6)

    return edit_all_rows(report, _restoring_arms(report), edit)


def unbounded_control(report: Report) -> Report | None:
    """The truth: the control evicted nothing."""
    control = ablated(report)
    if control is None:
        return None
    return holding_all(edit_rows(report, control.name, lambda row: row.replace(evicted_positions=0)), control.name)


@doctoring(truth=unbounded_control)
def forge_evicted_positions(report: Report, rng: random.Random) -> Report | None:
    """The control is said to have evicted what the arm evicted."""
    control, name = ablated(report), restoring(report, rng)
    if control is None or name is None:
        return None
    gone = {(row.sample, row.repeat): row.evicted_positions for row in arm_of(report, name).measurements}
    return edit_rows(report, control.name, lambda row: row.replace(evicted_positions=gone[row.sample, row.repeat]))


@doctoring()
def forget_restoration_flag(report: Report, rng: random.Random) -> Report | None:
    """A row does not say any more whether it restored."""
    name = restoring(report, rng)
    if name is None:
        return None
    key = any_row(report, name, rng)
    return edit_rows(
        report, name, lambda row: row.replace(restoration_active=None), where=lambda r: (r.sample, r.repeat) == key
    )


@doctoring()
def inflate_restored_positions(report: Report, rng: random.Random) -> Report | None:
    """More positions were restored than evicted."""
    name, by = restoring(report, rng), rng.uniform(1.05, 3.0)
    if name is None:
        return None
    return edit_rows(
        report, name, lambda row: row.replace(restored_positions=round((row.restored_positions or 0) * by))
    )


@doctoring()
def inflate_evicted_positions(report: Report, rng: random.Random) -> Report | None:
    """More positions were evicted and restored than a cache of these layers can hold."""
    name, by = restoring(report, rng), rng.uniform(2.0, 4.0)
    if name is None:
        return None

    def edit(row: Measurement) -> Measurement:
        count = round((row.evicted_positions or 0) * by)
        return row.replace(evicted_positions=count, restored_positions=count)

    return edit_rows(report, name, edit)


@doctoring()
def restore_in_control(report: Report, rng: random.Random) -> Report | None:
    """The control is said to have restored, so that the arm needs no other."""
    control = ablated(report)
    if control is None:
        return None
    return edit_rows(
        report, control.name, lambda row: row.replace(restoration_active=True, restored_positions=row.evicted_positions)
    )
