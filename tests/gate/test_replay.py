"""The run that started it all: five samples, zero blocks, 2.58x. It breaks exactly ten rules of the first table.

It is rebuilt here from its numbers twice: as a file of the predecessor, read by the importer, and as a report of our
own.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from gate.judging.judge import judge
from gate.judging.judge_evidence import judge_evidence
from reports.reading.reader import evidence_of, import_report
from reports.records.claims import MemoryClaim, RecallClaim, SpeedupClaim
from reports.records.kv_memory import ArmMemory, LayerMemory, MemoryTable
from reports.records.measurement import Arm, DrafterInfo, Measurement, Restoration, Speculation
from reports.report import Report

FIRST_TABLE = (
    "LEGACY_SCHEMA",
    "SCHEMA_INVALID",
    "MISSING_STAGE_TIMINGS",
    "MISSING_RESTORATION_FLAG",
    "MIXED_RESTORATION_PATHS",
    "BASELINE_AS_SUT",
    "BASELINE_RECALL_CLAIM",
    "RECALL_SCOPE",
    "FUSED_NEVER_RAN",
    "SPEEDUP_SELF_COMPARISON",
    "SPEEDUP_SAMPLES",
    "SPEEDUP_DECODE_TOKENS",
    "SPEEDUP_DECODE_ONLY_MISSING",
    "SPEEDUP_SCOPE_MISMATCH",
    "SPEEDUP_ORACLE_LOOP",
    "SPEEDUP_PREFILL_VARIANCE",
    "MEMORY_CLAIM_MISMATCH",
    "MISSING_LIVENESS",
    "PROPOSER_NEVER_RAN",
    "FTHETA_NOT_RUN",
    "SILENT_FALLBACK",
    "OUTPUT_DEGENERATE",
)
TEN = [
    "BASELINE_AS_SUT",
    "BASELINE_RECALL_CLAIM",
    "FUSED_NEVER_RAN",
    "MEMORY_CLAIM_MISMATCH",
    "RECALL_SCOPE",
    "SPEEDUP_DECODE_ONLY_MISSING",
    "SPEEDUP_DECODE_TOKENS",
    "SPEEDUP_ORACLE_LOOP",
    "SPEEDUP_PREFILL_VARIANCE",
    "SPEEDUP_SELF_COMPARISON",
]
PROMPT_TOKENS = (5810, 4911, 5594, 4406, 5505)
CROSS_PREFILL = (32.9, 37.3, 32.6, 21.5, 42.0)
ORACLE_PREFILL = (80.6, 35.3, 89.5, 146.3, 39.2)
CROSS_DECODE = (0.4, 2.2, 5.5, 0.4, 1.0)
ORACLE_DECODE = (11.5, 5.2, 19.5, 25.0, 2.4)
DECODE_TOKENS = (8, 7, 8, 8, 8)
TEXTS = ("BETA-1409", "DELTA-3286", "BETA-7912", "BETA-4582", "KAPPA-1434")
FULL_LAYERS = (5, 11, 17, 23, 29)
KEPT = 68


def layers() -> list[dict[str, Any]]:
    """The formula's table: full layers keep every position, sliding ones sink + window."""
    rows = []
    for layer in range(30):
        full = layer in FULL_LAYERS
        positions, size = (PROMPT_TOKENS[0], 4096) if full else (KEPT, 8192)
        rows.append(
            {
                "layer": layer,
                "layer_type": "full_attention" if full else "sliding_attention",
                "resident_positions": positions,
                "bytes_per_token": size,
                "resident_bytes": positions * size,
            }
        )
    return rows


def dialect(schema_version: int) -> dict[str, Any]:
    """The run as its tool wrote it down."""
    cross_rows = [
        {
            "sample": i,
            "build_restoration_s": 0.0,
            "aux_prompt_capture_s": 0.0,
            "restored_prefill_s" if schema_version == 1 else "prefill_s": CROSS_PREFILL[i],
            "decode_s": CROSS_DECODE[i],
            "e2e_s": round(CROSS_PREFILL[i] + CROSS_DECODE[i], 3),
            **({"restoration_active": True} if schema_version == 2 else {}),
            "fused": {"blocks": 0, "mean_accept_len": 0.0, "decode_tokens": DECODE_TOKENS[i]},
        }
        for i in range(5)
    ]
    oracle_rows = [
        {
            "sample": i,
            "prefill_s": ORACLE_PREFILL[i],
            "decode_s": ORACLE_DECODE[i],
            "e2e_s": round(ORACLE_PREFILL[i] + ORACLE_DECODE[i], 3),
        }
        for i in range(5)
    ]
    result = {
        "samples_total": 5,
        "samples_correct": 5,
        "recall": 1.0,
        "per_sample_decoded": [f"{text}<turn|>" for text in TEXTS],
        "per_sample_correct": [True] * 5,
        "per_sample_decode_tokens": list(DECODE_TOKENS),
    }
    table = layers()
    return {
        "schema_version": schema_version,
        "kind": "k3_integrated_niah_acceptance_mac",
        "config": {
            "verifier_path": "models/verifier-26b-4bit",
            "drafter_id": "drafter-dflash",
            "f_theta_dir": "f_theta_v5",
            "eval_mode": "free_gen_fused_specdecode",
            "n_samples": 5,
            "sink_size": 4,
            "window_size": 64,
            "max_new_tokens": 32,
            "s5_exact_full_attn": True,
            "identity_restore": False,
            "full_attention_layers": list(FULL_LAYERS),
            "prompt_token_lens": list(PROMPT_TOKENS),
        },
        "results": {"k3_cross_model": dict(result), "oracle": dict(result)},
        "gate": {"recall_cross_model": 1.0, "recall_oracle": 1.0},
        "memory": {
            "s5": {
                "seq_len": PROMPT_TOKENS[0],
                "sink_window": KEPT,
                "exact_layer_indices": list(FULL_LAYERS),
                "total_resident_bytes": sum(row["resident_bytes"] for row in table),
                "per_layer": table,
            },
            "savings_vs_naive_pct": 89.8,
        },
        "throughput": {
            "k3_cross_model": {"timing_scope": "e2e_prefill_plus_decode", "stage_timings": cross_rows},
            "oracle_native_ar": {"timing_scope": "e2e_prefill_plus_decode", "stage_timings": oracle_rows},
            "cross_model_speedup_vs_oracle_ar": 2.584,
        },
    }


def own() -> Report:
    """The run as a report of ours would tell it."""

    def row(i: int, prefill: float, decode: float, speculation: Speculation | None) -> Measurement:
        restored = {"restoration_active": False, "restoration_s": 0.0, "aux_s": 0.0} if speculation is not None else {}
        return Measurement.model_validate(
            {
                "sample": i,
                "repeat": 0,
                "prompt_tokens": PROMPT_TOKENS[i],
                "text": TEXTS[i],
                "correct": True,
                "prefill_s": prefill,
                "decode_s": decode,
                "e2e_s": prefill + decode,
                "decode_tokens": DECODE_TOKENS[i],
                "speculation": speculation,
                **restored,
            }
        )

    idle = Speculation(blocks=0, mean_accept_len=0.0, accept_len_counts="committed")
    cross = Arm(
        name="fused",
        role="sut",
        engine="fused",
        restoration=Restoration(mode="f_theta", exact_layers=FULL_LAYERS, sink=4, window=64),
        drafter=DrafterInfo(name="dflash"),
        timing_scope="e2e_prefill_plus_decode",
        measurements=tuple(row(i, CROSS_PREFILL[i], CROSS_DECODE[i], idle) for i in range(5)),
    )
    oracle = Arm(
        name="oracle",
        role="oracle",
        engine="ar",
        timing_scope="e2e_prefill_plus_decode",
        measurements=tuple(row(i, ORACLE_PREFILL[i], ORACLE_DECODE[i], None) for i in range(5)),
    )
    table = tuple(
        LayerMemory(kind=row["layer_type"], **{key: row[key] for key in row if key != "layer_type"}) for row in layers()
    )
    memory = ArmMemory(
        arm="fused",
        sequence_length=PROMPT_TOKENS[0],
        layers=table,
        total_bytes=sum(layer.resident_bytes for layer in table),
        full_kv_bytes=PROMPT_TOKENS[0] * sum(layer.bytes_per_token for layer in table),
    )
    claims = (
        SpeedupClaim(
            name="e2e_speedup/fused",
            metric="e2e_speedup",
            value=2.584,
            arm="fused",
            baseline="oracle",
            status="claimed",
        ),
        RecallClaim(
            name="restoration_recall/fused", metric="restoration_recall", value=1.0, arm="fused", status="claimed"
        ),
        MemoryClaim(
            name="kv_saving/fused", metric="kv_saving", value=0.898, arm="fused", status="claimed", basis="analytic"
        ),
    )
    return Report(
        kind="niah", report_id="replay", arms=(cross, oracle), memory=MemoryTable(arms=(memory,)), claims=claims
    )


def of_the_first_table(report: Report) -> list[str]:
    return sorted(violation.code for violation in judge(report).violations if violation.code in FIRST_TABLE)


def test_as_a_file_of_the_predecessor_it_breaks_ten_rules():
    evidence = evidence_of(json.dumps(dialect(2)).encode(), Path("replay.json"))
    assert isinstance(evidence.outcome, Report)
    assert of_the_first_table(evidence.outcome) == TEN
    judged = judge_evidence(evidence)
    assert judged.verdict == "invalid"
    assert judged.headlines == ()
    assert {claim.status for claim in judged.claims} == {"withheld"}


def test_as_a_report_of_our_own_it_breaks_the_same_ten():
    assert of_the_first_table(own()) == TEN
    assert judge(own()).headlines == ()


def test_as_committed_it_is_legacy(tmp_path):
    path = tmp_path / "replay.json"
    path.write_text(json.dumps(dialect(1)))
    judged = judge_evidence(evidence_of(path.read_bytes(), path))
    assert judged.verdict == "legacy"
    assert [violation.code for violation in judged.violations] == ["LEGACY_SCHEMA"]
    assert of_the_first_table(import_report(path)) == TEN


@pytest.mark.parametrize("code", ["SPEEDUP_SAMPLES", "SPEEDUP_SCOPE_MISMATCH"])
def test_five_samples_of_one_scope_are_not_its_fault(code):
    assert code not in {violation.code for violation in judge(own()).violations}


def test_what_the_rows_give_is_named_beside_what_was_claimed():
    found = {violation.code: violation for violation in judge(own()).violations}
    assert found["FUSED_NEVER_RAN"].message == "fused: 0 blocks in 5 rows"
    assert found["SPEEDUP_DECODE_TOKENS"].found == "8"
    assert found["CLAIM_NOT_REPRODUCIBLE"].found == "2.584"
