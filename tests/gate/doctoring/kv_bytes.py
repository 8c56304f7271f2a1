"""K/V bytes and the analytic table of memory."""

import random
from collections.abc import Callable

from reports.records.kv_memory import ArmMemory, LayerMemory
from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import of_role
from tests.gate.doctoring.reshape import arm_of, edit_all_rows, set_arm
from tests.gate.edits import edit_rows


def _lossy(report: Report) -> str | None:
    """An arm whose cache is smaller than the oracle's."""
    return next(
        (arm.name for arm in report.arms if arm.restoration is not None and arm.restoration.mode == "f_theta"), None
    )


def _scaled_bytes(row: Measurement, by: float) -> Measurement:
    names = ("kv_bytes_prefill", "kv_bytes_decode")
    return row.replace(**{name: round(value * by) for name in names if (value := getattr(row, name)) is not None})


def _tables(report: Report, edit: Callable[[ArmMemory], ArmMemory]) -> Report | None:
    if report.memory is None:
        return None
    return report.replace(memory=report.memory.replace(arms=tuple(edit(table) for table in report.memory.arms)))


@doctoring()
def drop_kv_bytes(report: Report, rng: random.Random) -> Report | None:
    """No row of an arm says how many bytes it held."""
    name = _lossy(report)
    if name is None:
        return None
    field = rng.choice(("kv_bytes_prefill", "kv_bytes_decode"))
    return edit_rows(report, name, lambda row: row.replace(**{field: None}))


@doctoring()
def halve_kv_bytes(report: Report, rng: random.Random) -> Report | None:
    """An arm is said to have held half the bytes; the table stays."""
    name = _lossy(report)
    return edit_rows(report, name, lambda row: _scaled_bytes(row, 0.5)) if name is not None else None


@doctoring()
def halve_kv_bytes_of_a_row(report: Report, rng: random.Random) -> Report | None:
    """Half of an arm's rows are said to have held half the bytes."""
    name = _lossy(report)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: _scaled_bytes(row, 0.5), where=lambda row: row.repeat % 2 == 0)


@doctoring()
def halve_kv_bytes_without_table(report: Report, rng: random.Random) -> Report | None:
    """An arm is said to have held half the bytes, and the table goes."""
    name = _lossy(report)
    if name is None:
        return None
    return edit_rows(report.replace(memory=None), name, lambda row: _scaled_bytes(row, 0.5))


@doctoring()
def halve_kv_bytes_and_table(report: Report, rng: random.Random) -> Report | None:
    """An arm is said to have held half the bytes, with a table of half the positions to match."""
    return _halved_with_table(report, lambda layer: layer.replace(resident_positions=layer.resident_positions // 2))


@doctoring()
def halve_kv_bytes_a_token(report: Report, rng: random.Random) -> Report | None:
    """An arm is said to have held half the bytes, with a table of half the bytes a token to match."""
    return _halved_with_table(report, lambda layer: layer.replace(bytes_per_token=layer.bytes_per_token // 2))


def _halved_with_table(report: Report, edit: Callable[[LayerMemory], LayerMemory]) -> Report | None:
    name = _lossy(report)
    if name is None:
        return None

    def of(table: ArmMemory) -> ArmMemory:
        if table.arm != name:
            return table
        layers = [edit(layer) for layer in table.layers]
        layers = [one.replace(resident_bytes=one.resident_positions * one.bytes_per_token) for one in layers]
        total = sum(layer.resident_bytes for layer in layers)
        full = table.sequence_length * sum(layer.bytes_per_token for layer in layers)
        return table.replace(layers=tuple(layers), total_bytes=total, full_kv_bytes=full, measured_bytes=total)

    edited = _tables(report, of)
    return edit_rows(edited, name, lambda row: _scaled_bytes(row, 0.5)) if edited is not None else None


@doctoring()
def inflate_oracle_bytes(report: Report, rng: random.Random) -> Report | None:
    """The oracle is said to have held twice the bytes."""
    oracle = of_role(report, "oracle")
    if oracle is None:
        return None
    return edit_rows(report, oracle.name, lambda row: _scaled_bytes(row, 2.0))


@doctoring()
def inflate_native_bytes(report: Report, rng: random.Random) -> Report | None:
    """Every arm on the native cache is said to have held twice the bytes."""
    names = [arm.name for arm in report.arms if arm.restoration is None or arm.restoration.mode == "none"]
    return edit_all_rows(report, names, lambda row: _scaled_bytes(row, 2.0)) if names else None


@doctoring()
def resident_as_freed(report: Report, rng: random.Random) -> Report | None:
    """An arm that keeps what it restored is said to have freed it, and to have held what the control held."""
    names = [arm.name for arm in report.arms if arm.restoration is not None and arm.restoration.residency == "resident"]
    control = next((arm for arm in report.arms if arm.name == "ablate"), None)
    if not names or control is None:
        return None
    held = {(row.sample, row.repeat): row for row in control.measurements}

    def edit(row: Measurement) -> Measurement:
        theirs = held[row.sample, row.repeat]
        return row.replace(kv_bytes_prefill=theirs.kv_bytes_prefill, kv_bytes_decode=theirs.kv_bytes_decode)

    for name in names:
        kept = arm_of(report, name).restoration
        assert kept is not None
        report = set_arm(report, name, restoration=kept.replace(residency="transient"))
    return edit_all_rows(report.replace(memory=None), names, edit)


@doctoring()
def edit_table_total(report: Report, rng: random.Random) -> Report | None:
    """The table's total is made smaller."""
    return _tables(report, lambda table: table.replace(total_bytes=table.total_bytes // 2))


@doctoring()
def edit_full_bytes(report: Report, rng: random.Random) -> Report | None:
    """What a full cache would hold is made larger."""
    return _tables(report, lambda table: table.replace(full_kv_bytes=table.full_kv_bytes * 3))


@doctoring()
def drop_a_layer(report: Report, rng: random.Random) -> Report | None:
    """The table forgets a layer."""
    return _tables(report, lambda table: table.replace(layers=table.layers[1:]))


@doctoring()
def flip_formula_matches_run(report: Report, rng: random.Random) -> Report | None:
    """Formula and run are said not to match, or to match where they do not."""

    def of(table: ArmMemory) -> ArmMemory:
        layers = tuple(
            layer.replace(resident_positions=68, resident_bytes=68 * layer.bytes_per_token) for layer in table.layers
        )
        return table.replace(layers=layers, total_bytes=sum(layer.resident_bytes for layer in layers),
                             formula_matches_run=True)  # fmt: skip

    return _tables(report, of)


@doctoring()
def lower_peak(report: Report, rng: random.Random) -> Report | None:
    """The peak of every arm under test is made lower."""
    names = [arm.name for arm in report.arms if arm.role == "sut"]
    if not names:
        return None
    return edit_all_rows(report, names, lambda row: row.replace(peak_bytes=(row.peak_bytes or 0) // 2))


def peak_rose(report: Report) -> Report | None:
    """The truth: the arm with the small cache needed more memory, not less."""
    name = _lossy(report)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: row.replace(peak_bytes=(row.peak_bytes or 0) * 2))


@doctoring(truth=peak_rose)
def hide_the_peak(report: Report, rng: random.Random) -> Report | None:
    """The peak that rose is lowered to what it was before."""
    name = _lossy(report)
    assert name is not None
    return edit_rows(report, name, lambda row: row.replace(peak_bytes=(row.peak_bytes or 0) // 2))


@doctoring(truth=peak_rose)
def drop_the_peak(report: Report, rng: random.Random) -> Report | None:
    """The peak that rose is not recorded any more."""
    return edit_all_rows(report, [arm.name for arm in report.arms], lambda row: row.replace(peak_bytes=None))
