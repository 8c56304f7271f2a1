"""The bad and the good report of every rule about speed-ups, recall, memory, parity and codecs.

`python -m tests.gate.claim_case_files` writes them again, as `tests.gate.case_files` does for the other rules.
"""

from collections.abc import Callable
from typing import Any

from gate.judging.judge import conclude
from reports.report import Report
from tests.gate.case_files import (
    FOLDER,
    CaseFiles,
    after_case,
    claim_case,
    compact,
    dflash,
    document,
    drafting,
    evidence_case,
    native_baseline,
    slim,
    throughput,
)
from tests.gate.claim_edits import (
    IDENTITY,
    NGRAM,
    RECALL,
    SPEED,
    analytic,
    approximating,
    astray,
    cold_start,
    deny_formula,
    disagree,
    edit_codec,
    errs,
    f_theta,
    flip_verdict,
    forgetful,
    halved_error,
    hush,
    kv_quant,
    niah,
    noisy_null,
    order_decides,
    other_loop,
    parity,
    renamed,
    same_loop,
    say,
    scale,
    wider_formula,
    without_claim,
)
from tests.gate.edits import asserted, edit_arm, set_first_row, set_rows
from tests.gate.honest import Setup, measured_code


def by_formula(edit: Callable[[Report], Report]) -> CaseFiles:
    """A saving claimed by formula, and then the rows or the table edited."""
    return CaseFiles(bad=document(edit(analytic(conclude(f_theta())))), good=document(analytic(conclude(f_theta()))))


def resized(**changes: Any) -> CaseFiles:
    """The throughput report at another size, its speed-up claimed all the same."""
    bad = slim(
        measured_code(
            Setup(**({"samples": 5, "repeats": 3, "max_new_tokens": 34, "draft_arms": ("native",)} | changes))
        )
    )
    return CaseFiles(
        bad=document(asserted(conclude(bad), SPEED)), good=document(asserted(conclude(throughput()), SPEED))
    )


def cases() -> dict[str, CaseFiles]:
    """Every case, by the code of its rule."""
    return speedup_cases() | recall_cases() | other_cases()


def speedup_cases() -> dict[str, CaseFiles]:
    def speed(edit: Callable[[Report], Report]) -> CaseFiles:
        return claim_case(throughput, edit, SPEED)

    def alone(report: Report) -> Report:
        return without_claim(asserted(report, "e2e_speedup/native"), SPEED)

    return {
        "SPEEDUP_SELF_COMPARISON": speed(same_loop),
        "SPEEDUP_SAMPLES": resized(samples=4),
        "SPEEDUP_DECODE_TOKENS": resized(max_new_tokens=20),
        "SPEEDUP_REPEATS": resized(repeats=2),
        "SPEEDUP_DRIFT": resized(drift=0.5),
        "SPEEDUP_DECODE_ONLY_MISSING": CaseFiles(
            bad=document(alone(conclude(throughput()))),
            good=document(asserted(conclude(throughput()), "e2e_speedup/native", SPEED)),
        ),
        "SPEEDUP_PREFILL_LEFT_OUT": claim_case(
            drafting, lambda r: scale(r, "fused_ngram", prefill=4.0), "decode_speedup/fused_ngram"
        ),
        "SPEEDUP_LOSSY": claim_case(approximating, astray, f"decode_speedup/{NGRAM}"),
        "SPEEDUP_SCOPE_MISMATCH": speed(lambda r: edit_arm(r, "native", lambda arm: arm.replace(timing_scope=None))),
        "SPEEDUP_ORACLE_LOOP": speed(other_loop),
        "SPEEDUP_PREFILL_VARIANCE": speed(lambda r: scale(r, "oracle", prefill=4.0, where=lambda row: row.sample == 0)),
        "SPEEDUP_INTERVAL": speed(lambda r: scale(r, "native", decode=0.8, where=lambda row: row.sample == 0)),
        "SPEEDUP_NULL_BAND": speed(noisy_null),
        "SPEEDUP_ORDER": speed(order_decides),
        "SPEEDUP_WARMUP": speed(cold_start),
    }


def recall_cases() -> dict[str, CaseFiles]:
    def recall(edit: Callable[[Report], Report]) -> CaseFiles:
        return claim_case(niah, edit, RECALL)

    return {
        "BASELINE_RECALL_CLAIM": after_case(native_baseline, renamed),
        "RECALL_SCOPE": recall(lambda r: set_first_row(r, "identity", restored_positions=1)),
        "CONTROL_MISSING": recall(
            lambda r: edit_arm(
                r, "ablate", lambda arm: arm.replace(restoration=arm.restoration.replace(eviction="after"))
            )
        ),
        "CONTROL_RECALL_HIGH": recall(lambda r: say(r, "ablate", "oracle", range(5))),
        "ORACLE_RECALL_LOW": claim_case(native_baseline, forgetful, "native_baseline_recall/native"),
        "STREAM_AUDIT_SILENT": evidence_case(niah, hush),
        "NEEDLE_CONTROL": recall(lambda r: say(r, "needle_free", "oracle", (3,))),
        "RECALL_SCORING": evidence_case(niah, lambda r: set_first_row(r, "ablate", correct=True)),
    }


def other_cases() -> dict[str, CaseFiles]:
    saving, worth = "kv_saving/f_theta", "kv_codec_worthwhile/lattice_d4"

    return {
        "MEMORY_CLAIM_MISMATCH": by_formula(deny_formula),
        "MEMORY_NOT_MEASURED": by_formula(lambda r: set_first_row(r, "f_theta", kv_bytes_decode=None)),
        "MEMORY_ANALYTIC_GAP": claim_case(f_theta, wider_formula, saving),
        "MEMORY_PEAK_ROSE": claim_case(f_theta, lambda r: set_rows(r, "f_theta", peak_bytes=700_000_000), saving),
        "PARITY_REQUIRED": claim_case(dflash, lambda r: r.replace(parity=None), "acceptance/fused_dflash"),
        "PARITY_FAILED": evidence_case(parity, disagree),
        "KVQUANT_CONTROL": evidence_case(kv_quant, lambda r: errs(r, IDENTITY, k=1e-3)),
        "KVQUANT_ARITHMETIC": evidence_case(kv_quant, halved_error),
        "KVQUANT_ORDER": evidence_case(kv_quant, lambda r: errs(r, "affine8", k=0.05, v=0.05)),
        "KVQUANT_RATE": claim_case(
            kv_quant, lambda r: edit_codec(r, "affine4", lambda arm: arm.replace(stated_bits=4.0)), worth
        ),
        "KVQUANT_VERDICT": evidence_case(kv_quant, flip_verdict),
    }


def write_all() -> None:
    """Write every case file anew."""
    for code, files in cases().items():
        folder = FOLDER / code
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "bad.json").write_text(compact(files.bad) + "\n")
        (folder / "good.json").write_text(compact(files.good) + "\n")


if __name__ == "__main__":
    write_all()
