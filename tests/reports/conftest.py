"""Small foreign files of our own making, and what reads them."""

import copy
import json
from typing import NamedTuple

import pytest

from gate.judging.judge_evidence import judge_evidence
from reports.reading.evidence import Legacy
from reports.reading.reader import evidence_of
from reports.report import Report

SLIDING = {"layer_type": "sliding_attention", "bytes_per_token": 8192, "resident_positions": 68}
FULL = {"layer_type": "full_attention", "bytes_per_token": 4096}

# The replay that started it all: five samples, figures as published.
REPLAY_LENGTHS = [5810, 4911, 5594, 4406, 5505]
REPLAY_TOKENS = [8, 7, 8, 8, 8]
REPLAY_CROSS = [(32.857, 0.430), (37.284, 2.262), (32.612, 5.505), (21.529, 0.432), (41.982, 0.996)]
REPLAY_ORACLE = [(80.599, 11.452), (35.268, 5.217), (89.521, 19.528), (146.333, 24.985), (39.170, 2.411)]


def _layer(index):
    if index % 6 == 5:
        return {"layer": index, **FULL, "resident_positions": 5810, "resident_bytes": 4096 * 5810}
    return {"layer": index, **SLIDING, "resident_bytes": 8192 * 68}


def _result(**more):
    return {
        "samples_total": 5,
        "samples_correct": 5,
        "recall": 1.0,
        "per_sample_decoded": [f"CODE-{sample}<turn|>" for sample in range(5)],
        "per_sample_correct": [True] * 5,
        "per_sample_decode_tokens": list(REPLAY_TOKENS),
        **more,
    }


def _fused_row(sample, prefill, decode):
    tokens = [100 + sample] * REPLAY_TOKENS[sample]
    return {
        "sample": sample,
        "build_restoration_s": 0.0,
        "aux_prompt_capture_s": 0.0,
        "restored_prefill_s": prefill,
        "decode_s": decode,
        "e2e_s": round(prefill + decode, 3),
        "fused": {
            "tokens": tokens,
            "blocks": 0,
            "mean_accept_len": 0.0,
            "decode_tokens": len(tokens),
            "adaptive_mode": "restored_greedy",
            "time_breakdown_s": {"greedy_decode_s": decode},
        },
    }


def _oracle_row(sample, prefill, decode):
    return {"sample": sample, "prefill_s": prefill, "decode_s": decode, "e2e_s": round(prefill + decode, 3)}


def _replay():
    scope = {"timing_scope": "e2e_prefill_plus_decode"}
    cross = [_fused_row(sample, *times) for sample, times in enumerate(REPLAY_CROSS)]
    oracle = [_oracle_row(sample, *times) for sample, times in enumerate(REPLAY_ORACLE)]
    return {
        "schema_version": 1,
        "kind": "k3_integrated_niah_acceptance_mac",
        "config": {
            "verifier_path": "/Users/somebody/models/gemma-4-26B-A4B-it-mlx-4bit",
            "drafter_id": "z-lab/gemma-4-26B-A4B-it-DFlash",
            "f_theta_dir": "results/f_theta_v5",
            "n_samples": 5,
            "sink_size": 4,
            "window_size": 64,
            "max_new_tokens": 32,
            "prefill_chunk_size": 512,
            "seed": 42,
            "eval_mode": "free_gen_fused_specdecode",
            "s5_exact_full_attn": True,
            "identity_restore": False,
            "full_attention_layers": [5, 11, 17, 23, 29],
            "prompt_token_lens": list(REPLAY_LENGTHS),
        },
        "results": {"k3_cross_model": _result(), "oracle": _result()},
        "gate": {"recall_cross_model": 1.0, "recall_oracle": 1.0},
        "memory": {
            "s5": {
                "seq_len": 5810,
                "exact_layer_indices": [5, 11, 17, 23, 29],
                "total_resident_bytes": 132_915_200,
                "per_layer": [_layer(index) for index in range(30)],
            },
            "naive_full_kv": {"total_resident_mb": 1308.88},
            "savings_vs_naive_pct": 89.8,
        },
        "throughput": {
            "k3_cross_model": {
                "tokens_per_second": 0.2217,
                "eval_mode": "free_gen_fused_specdecode",
                "stage_timings": cross,
                **scope,
            },
            "oracle_native_ar": {"tokens_per_second": 0.0858, "stage_timings": oracle, **scope},
            "cross_model_speedup_vs_oracle_ar": 2.584,
        },
    }


@pytest.fixture
def replay():
    """The replay in the predecessor's dialect, schema 1; every test gets its own."""
    return _replay()


@pytest.fixture
def schema_2(replay):
    """The same as schema 2 with live rows: drafting took place, the flags are set."""
    document = copy.deepcopy(replay)
    document["schema_version"] = 2
    document["results"]["k3_cross_model"]["system_under_test"] = "restored_cross_model"
    cross, oracle = document["throughput"]["k3_cross_model"], document["throughput"]["oracle_native_ar"]
    for row in cross["stage_timings"]:
        row["prefill_s"] = row.pop("restored_prefill_s")
        row |= {"aux_prompt_capture_s": 1.5, "restoration_active": True, "decode_loop": "fused_specdecode"}
        blocks = 4 if len(row["fused"]["tokens"]) == 8 else 7
        row["fused"] |= {"blocks": blocks, "mean_accept_len": 2.0 if blocks == 4 else 1.0, "loop": "keep_accepted"}
        row["fused"]["time_breakdown_s"] = {"draft_s": 0.1, "verify_s": 0.2, "extend_s": 0.05}
    oracle["decode_loop"] = "generate_step"
    for row in oracle["stage_timings"]:
        row["decode_loop"] = "generate_step"
    document["throughput"]["decode_only"] = {
        "cross_median_tok_s": 8.0,
        "oracle_median_tok_s": 0.7,
        "speedup": 11.5,
    }
    document["memory"]["s5"] |= {"formula_matches_run": True}
    document["memory"]["measured_peak_mb"] = 16919.3
    return document


@pytest.fixture
def evidence(tmp_path):
    """Read a document (or bytes, or a list of lines) as if it stood in a file."""

    def read(document, lines=False):
        if isinstance(document, bytes):
            data = document
        elif lines:
            data = "".join(json.dumps(line) + "\n" for line in document).encode()
        else:
            data = json.dumps(document).encode()
        return evidence_of(data, tmp_path / "x.json")

    return read


@pytest.fixture
def imported(evidence):
    """The report an importer makes of a document, of schema 1 too."""

    def read(document, lines=False):
        outcome = evidence(document, lines).outcome
        report = outcome.report if isinstance(outcome, Legacy) else outcome
        assert isinstance(report, Report), outcome
        return report

    return read


class Judged(NamedTuple):
    """What the gate says of a foreign file."""

    verdict: str
    codes: frozenset[str]


@pytest.fixture
def judged(evidence):
    """Read a document as `evidence` does, and judge it."""

    def read(document, lines=False):
        file = judge_evidence(evidence(document, lines))
        return Judged(file.verdict, frozenset(violation.code for violation in file.violations))

    return read
