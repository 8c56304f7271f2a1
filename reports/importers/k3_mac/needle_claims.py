"""What a `k3_integrated_niah_acceptance_mac` file asserts, and the formula behind its memory figure."""

from collections.abc import Iterator

from reports.importers.base import ForeignFormatError
from reports.importers.k3_mac.needle_shapes import MacReport, Memory, Throughput
from reports.records.claims import Claim, MemoryClaim, RecallClaim, SpeedupClaim
from reports.records.kv_memory import ArmMemory, LayerMemory, MemoryTable

CROSS = "k3_cross_model"
ORACLE = "oracle"


def memory_table(memory: Memory | None) -> MemoryTable | None:
    """The formula's table of the arm under test; a full cache is what its layers would hold unbounded.

    Raises:
        ForeignFormatError: neither the layers nor the size of a full cache are recorded.
    """
    s5 = memory.s5 if memory is not None else None
    if memory is None or s5 is None:
        return None
    layers = tuple(
        LayerMemory(
            layer=row.layer,
            kind=row.layer_type,
            bytes_per_token=row.bytes_per_token,
            resident_positions=row.resident_positions,
            resident_bytes=row.resident_bytes,
        )
        for row in s5.per_layer or ()
    )
    full = s5.seq_len * sum(layer.bytes_per_token for layer in layers)
    if not layers:
        if memory.naive_full_kv is None:
            raise ForeignFormatError("memory.naive_full_kv: missing, and so is memory.s5.per_layer")
        full = round(memory.naive_full_kv.total_resident_mb * 1e6)
    table = ArmMemory(
        arm=CROSS,
        sequence_length=s5.seq_len,
        layers=layers,
        total_bytes=s5.total_resident_bytes,
        full_kv_bytes=full,
        stated_formula_matches_run=s5.formula_matches_run,
    )
    return MemoryTable(arms=(table,))


def claims_of(file: MacReport) -> Iterator[Claim]:
    """Every figure the file asserts: speed-ups, recalls, the analytic saving."""
    yield from _speedups(file.throughput)
    yield from _recalls(file)
    saving = file.memory.savings_vs_naive_pct if file.memory is not None else None
    if saving is not None:
        yield MemoryClaim(
            name=f"kv_saving/{CROSS}",
            metric="kv_saving",
            value=round(saving / 100, 6),
            arm=CROSS,
            status="claimed",
            basis="analytic",
        )


def _speedups(throughput: Throughput | None) -> Iterator[Claim]:
    if throughput is None:
        return
    decode = throughput.decode_only.speedup if throughput.decode_only is not None else None
    end_to_end = throughput.cross_model_speedup_vs_oracle_ar
    for metric, value, estimator in (
        ("decode_speedup", decode, "ratio_of_medians"),
        ("e2e_speedup", end_to_end, "ratio_of_totals"),
    ):
        if value is not None:
            yield SpeedupClaim.model_validate(
                {
                    "name": f"{metric}/{CROSS}",
                    "metric": metric,
                    "value": value,
                    "arm": CROSS,
                    "baseline": ORACLE,
                    "status": "claimed",
                    "estimator": estimator,
                }
            )


def _recalls(file: MacReport) -> Iterator[Claim]:
    """The gate block asserts. `recall_cross_model` is the system's recall, also on a file labelled as a baseline."""
    gate, results = file.gate, file.results
    stated = [
        ("restoration_recall", CROSS, gate.recall_cross_model if gate is not None else None),
        ("native_baseline_recall", CROSS, gate.recall_native_baseline if gate is not None else None),
        ("oracle_recall", ORACLE, gate.recall_oracle if gate is not None else None),
    ]
    asserted = {(arm, value) for _, arm, value in stated}
    for arm, result in ((CROSS, results.k3_cross_model), (ORACLE, results.oracle)):
        if result is not None and (arm, result.recall) not in asserted:
            stated.append(("arm_recall", arm, result.recall))
    for metric, arm, value in stated:
        if value is not None:
            yield RecallClaim.model_validate(
                {"name": f"{metric}/{arm}", "metric": metric, "value": value, "arm": arm, "status": "claimed"}
            )
