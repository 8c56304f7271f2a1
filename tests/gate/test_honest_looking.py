"""Files that look honest and passed other gates: each is caught, by a rule that says why."""

from collections.abc import Callable

import pytest

from gate.judging.judge import conclude, judge
from reports.records.claims import AcceptanceClaim, MemoryClaim
from reports.records.measurement import Arm, BlockRecord, Measurement
from reports.report import Report
from tests.gate.cases.bases import f_theta, parity
from tests.gate.cases.parity import disagree
from tests.gate.cases.recall import say
from tests.gate.edits import asserted, edit_arm, edit_rows, scale, set_claim, set_rows
from tests.gate.honest import BYTES_PER_LAYER_TOKEN, LAYERS, SINK, WINDOW, Setup, measured_code, measured_niah

FULL = Setup(samples=6, repeats=3, max_new_tokens=48)


def reasons(report: Report, claim: str) -> set[str]:
    """Codes that withhold `claim`; the claim must be there."""
    return set(next(one.withheld_by for one in judge(report).claims if one.name == claim))


def admitted(report: Report) -> set[str]:
    return {headline.claim.name for headline in judge(report).headlines}


def test_a_restoration_of_one_millisecond_over_the_native_cache() -> None:
    """Paired ratios from 0.69 to 3.8 were claimed as 2.18, of an arm whose texts are the oracle's."""
    report = measured_niah(Setup(samples=6, repeats=3, prompt_tokens=5000, max_new_tokens=48))

    def edit(row: Measurement) -> Measurement:
        assert row.e2e_s is not None
        assert row.restoration_s is not None
        return row.replace(restoration_s=0.001, e2e_s=row.e2e_s - row.restoration_s + 0.001)

    report = edit_rows(report, "identity", edit)
    for sample, factor in enumerate((1 / 0.69, 1 / 2.8, 1 / 2.18, 1 / 3.8, 1 / 1.46)):
        report = scale(report, "identity", decode=factor, where=lambda row, sample=sample: row.sample == sample)
    report = asserted(conclude(report), "decode_speedup/identity", "restoration_recall/identity")
    assert {"SPEEDUP_SELF_COMPARISON", "SPEEDUP_INTERVAL"} <= reasons(report, "decode_speedup/identity")
    assert {"RECALL_SCOPE", "BASELINE_RECALL_CLAIM"} <= reasons(report, "restoration_recall/identity")
    assert admitted(report) == set()


def test_collapsed_streams_that_leave_the_oracles_and_recall_everything() -> None:
    report = measured_niah(Setup(samples=6, repeats=1))

    def collapse(row: Measurement) -> Measurement:
        ids = (*(row.token_ids or ())[:-1], *([600, 601] * 12))
        return row.replace(text=f"{row.text} {'and is ' * 12}", token_ids=ids, decode_tokens=len(ids) - 1)

    report = edit_rows(report, "identity", collapse)
    report = asserted(conclude(report), "restoration_recall/identity", "token_identity/identity")
    found = reasons(report, "restoration_recall/identity")
    assert {"OUTPUT_DEGENERATE", "RECALL_SCORING", "STREAM_DIVERGENCE"} <= found
    assert admitted(report) == set()


def test_recall_on_a_workload_with_an_empty_answer() -> None:
    report = measured_niah(Setup(samples=8, repeats=1))
    assert report.workload is not None
    prompts = tuple(prompt.replace(answer="") for prompt in report.workload.prompts)
    report = report.replace(workload=report.workload.replace(prompts=prompts))
    report = asserted(conclude(report), "oracle_recall/oracle", "restoration_recall/identity")
    for claim in ("oracle_recall/oracle", "restoration_recall/identity"):
        assert "RECALL_SCORING" in reasons(report, claim)


def test_a_median_over_streams_of_128_and_7_tokens() -> None:
    report = measured_code(Setup(samples=8, repeats=3, max_new_tokens=128, draft_arms=("ngram",)))

    def short(row: Measurement) -> Measurement:
        if row.sample < 4:
            return row
        assert row.decode_s is not None
        assert row.e2e_s is not None
        decode_s = row.decode_s * 6 / 127
        return row.replace(
            token_ids=(row.token_ids or ())[:7],
            decode_tokens=6,
            decode_s=decode_s,
            e2e_s=row.e2e_s - row.decode_s + decode_s,
            stop_reason="eos",
            speculation=None,
        )

    for arm in report.arms:
        report = edit_rows(report, arm.name, short)
    report = asserted(conclude(report), "decode_speedup/fused_ngram")
    assert "EARLY_STOP" in reasons(report, "decode_speedup/fused_ngram")


def test_blocks_of_size_one_with_nothing_drafted() -> None:
    report = measured_code(Setup(samples=6, repeats=3, max_new_tokens=65, draft_arms=("ngram",)))

    def plain(row: Measurement) -> Measurement:
        assert row.speculation is not None
        assert row.decode_s is not None
        seconds = row.decode_s / 64
        one = BlockRecord(
            drafted=0, accepted=0, committed=1, draft_s=0.0, verify_s=seconds, extend_s=0.0, rollback_s=0.0,
            seconds=seconds,
        )  # fmt: skip
        said = row.speculation.replace(
            blocks=64, drafted=0, accepted=0, committed=64, mean_accept_len=1.0, rounds=(one,) * 64,
            draft_s=0.0, verify_s=row.decode_s, extend_s=0.0, rollback_s=0.0,
        )  # fmt: skip
        return row.replace(speculation=said)

    report = edit_rows(report, "fused_ngram", plain)
    report = edit_arm(
        report,
        "fused_ngram",
        lambda arm: arm.replace(drafter=arm.drafter.replace(block_size=1) if arm.drafter else None),
    )
    report = asserted(conclude(report), "decode_speedup/fused_ngram")
    found = reasons(report, "decode_speedup/fused_ngram")
    assert {"SPEEDUP_SELF_COMPARISON", "PROPOSER_NEVER_RAN"} <= found


def test_a_speed_up_that_leaves_the_prefill_out() -> None:
    """3.46x of decoding is 0.53x with the prefill that made it possible."""
    report = scale(measured_code(FULL), "fused_ngram", prefill=2.9)
    hidden = asserted(conclude(report), "decode_speedup/fused_ngram")
    assert "SPEEDUP_PREFILL_LEFT_OUT" in reasons(hidden, "decode_speedup/fused_ngram")
    shown = asserted(conclude(report), "decode_speedup/fused_ngram", "e2e_speedup/fused_ngram")
    assert "SPEEDUP_PREFILL_LEFT_OUT" not in reasons(shown, "decode_speedup/fused_ngram")


def test_an_unrecorded_scope_is_not_equal_to_another() -> None:
    report = measured_code(FULL)
    for arm in report.arms:
        report = edit_arm(report, arm.name, lambda one: one.replace(timing_scope=None))
    report = asserted(conclude(report), "decode_speedup/fused_ngram")
    assert "SPEEDUP_SCOPE_MISMATCH" in reasons(report, "decode_speedup/fused_ngram")


def test_less_memory_by_formula_while_the_peak_rose() -> None:
    """43.9 times less, of a cache the run did not have."""
    report = f_theta()
    report = set_rows(report, "f_theta", kv_bytes_prefill=None, kv_bytes_decode=None, peak_bytes=900_000_000)
    report = conclude(report)
    assert report.memory is not None
    table = next(table for table in report.memory.arms if table.arm == "f_theta")
    claim = MemoryClaim(
        name="kv_saving/f_theta",
        metric="kv_saving",
        value=1 - table.total_bytes / table.full_kv_bytes,
        arm="f_theta",
        baseline="oracle",
        status="claimed",
        basis="analytic",
    )
    report = report.replace(claims=(*report.claims, claim), gate=None)
    found = reasons(report, "kv_saving/f_theta")
    assert {"MEMORY_CLAIM_MISMATCH", "MEMORY_NOT_MEASURED", "MEMORY_PEAK_ROSE"} <= found


@pytest.mark.parametrize("digests", [True, False])
def test_one_prompt_as_three_samples(digests: bool) -> None:
    report = measured_code(Setup(samples=6, repeats=3, draft_arms=("ngram",)))
    first = report.arms[0].measurements[0]
    for arm in report.arms:
        report = set_rows(
            report, arm.name, prompt_digest=first.prompt_digest if digests else None,
            prompt_tokens=first.prompt_tokens, token_ids=first.token_ids, text=first.text,
        )  # fmt: skip
    report = asserted(conclude(report), "decode_speedup/fused_ngram")
    assert "SPEEDUP_SAMPLES" in reasons(report, "decode_speedup/fused_ngram")


def test_acceptance_per_output_token() -> None:
    report = conclude(measured_code(FULL))
    claim = next(one for one in report.claims if isinstance(one, AcceptanceClaim) and one.arm == "fused_dflash")
    rows = next(arm for arm in report.arms if arm.name == "fused_dflash").measurements
    accepted = sum(row.speculation.accepted or 0 for row in rows if row.speculation is not None)
    per_token = accepted / sum(row.decode_tokens or 0 for row in rows)
    assert per_token > 2 * claim.value
    for denominator, code in (("output_tokens", "ACCEPTANCE_DENOMINATOR"), ("drafted", "CLAIM_NOT_REPRODUCIBLE")):
        forged = set_claim(asserted(report, claim.name), claim.name, value=per_token, denominator=denominator)
        assert code in reasons(forged, claim.name)


def test_a_drafter_that_fails_parity_is_not_shipped() -> None:
    report = disagree(measured_code(FULL))
    assert report.parity is not None
    report = asserted(conclude(report), "decode_speedup/fused_dflash")
    assert {"PARITY_REQUIRED", "PARITY_FAILED"} <= reasons(report, "decode_speedup/fused_dflash")
    assert "PARITY_FAILED" in {violation.code for violation in judge(conclude(disagree(parity()))).violations}


def one_carries(report: Report) -> Report:
    """Two prompts far below 1, two far above, and the one between decides."""
    for sample, target in enumerate((0.62, 0.67, 1.27, 1.3, 1.4)):
        report = scale(
            report, "fused_ngram", decode=1.25 / target, where=lambda row, sample=sample: row.sample == sample
        )
    return report


def test_one_sample_that_carries_the_median() -> None:
    report = conclude(one_carries(measured_code(FULL)))
    claim = next(one for one in report.claims if one.name == "decode_speedup/fused_ngram")
    assert claim.value == pytest.approx(1.02, abs=0.05)
    assert "SPEEDUP_INTERVAL" in claim.withheld_by


@pytest.mark.parametrize("build", [lambda: measured_code(FULL), lambda: measured_niah(Setup(samples=6, repeats=1))])
def test_the_honest_files_these_are_made_from_are_admitted(build: Callable[[], Report]) -> None:
    report = conclude(build())
    assert judge(report).violations == ()
    assert admitted(report)


def three_exact_layers(arm: Arm) -> Arm:
    """The arm with three layers that keep all their own K/V."""
    assert arm.restoration is not None
    return arm.replace(restoration=arm.restoration.replace(exact_layers=(5, 11, 17)))


def keeps_three_layers(row: Measurement) -> Measurement:
    """The counts and bytes of such a row: three layers evict nothing."""
    tokens, layers = row.prompt_tokens or 0, LAYERS - 3
    changes = {"evicted_positions": layers * (tokens - SINK - WINDOW)}
    if row.restored_positions:
        changes["restored_positions"] = changes["evicted_positions"]
    else:
        changes["kv_bytes_prefill"] = (layers * (SINK + WINDOW) + 3 * tokens) * BYTES_PER_LAYER_TOKEN
    return row.replace(**changes)


def test_the_coupon_is_named() -> None:
    """Exact full-attention layers recall 5 of 5 whatever is restored beside them; so does the control."""
    report = say(measured_niah(Setup(samples=6, repeats=1)), "ablate", "oracle", range(6)).replace(memory=None)
    for name in ("identity", "ablate"):
        report = edit_rows(edit_arm(report, name, three_exact_layers), name, keeps_three_layers)
    assert reasons(conclude(report), "restoration_recall/identity") == {"CONTROL_RECALL_HIGH"}


def test_the_demo_admits_recall_and_withholds_speed() -> None:
    report = conclude(measured_niah(Setup(samples=6, repeats=1)))
    assert admitted(report) >= {
        "oracle_recall/oracle",
        "restoration_recall/identity",
    }
    assert {"SPEEDUP_REPEATS", "SPEEDUP_DECODE_TOKENS"} <= reasons(report, "decode_speedup/identity")
    assert judge(report).violations == ()


def test_a_slow_down_is_an_honest_claim() -> None:
    report = conclude(measured_code(Setup(samples=6, repeats=3, ngram_speedup=0.7, draft_arms=("ngram",))))
    claim = next(one for one in report.claims if one.name == "decode_speedup/fused_ngram")
    assert claim.status == "admitted"
    assert claim.value < 1
