import pytest

from reports.reading.evidence import Invalid, NotAReport


@pytest.fixture
def bench():
    """Two runs of one prompt: 40 tokens in 10 cycles."""

    def run(number, speedup):
        return {
            "run": number,
            "thermal_pressure": "nominal",
            "baseline": {"ttft_ms": 1476.5, "generation_tps": 30.0, "peak_memory_gb": 18.063354566},
            "dflash": {
                "ttft_ms": 554.8,
                "generation_tps": 30.0 * speedup,
                "tokens_per_cycle": 4.0,
                "cycles": 10,
                "acceptance_ratio": 0.75,
                "peak_memory_gb": 20.3,
            },
            "speedup": speedup,
        }

    return {
        "hardware": {"chip": "Apple M5 Max", "memory_gb": "64", "mlx_version": "0.31.1", "python": "3.13.5"},
        "config": {
            "target_model": "Qwen/Qwen3.5-9B",
            "draft_model": "z-lab/Qwen3.5-9B-DFlash",
            "max_new_tokens": 40,
            "block_tokens": 16,
            "cooldown": 60,
            "prompt": "solve",
            "prompt_tokens": 102,
            "repeat": 2,
            "git_hash": "4bfb082",
        },
        "runs": [run(1, 2.0), run(2, 3.0)],
        "summary": {
            "baseline_tps_median": 30.0,
            "dflash_tps_median": 75.0,
            "speedup_median": 2.5,
            "acceptance_ratio_median": 0.75,
        },
    }


def test_runs_are_repeats_of_one_sample(evidence, imported, bench):
    found = evidence(bench)
    assert (found.source, found.kind, found.schema_version) == ("dflash-mlx", "benchmark", None)
    report = imported(bench)
    assert [(arm.name, arm.role) for arm in report.arms] == [("baseline", "oracle"), ("dflash", "sut")]
    for arm in report.arms:
        assert [(row.sample, row.repeat) for row in arm.measurements] == [(0, 0), (0, 1)]
    baseline, dflash = report.arms[0].measurements[0], report.arms[1].measurements[0]
    assert (baseline.prefill_s, baseline.stated_decode_tok_s) == (1.4765, 30.0)
    assert baseline.peak_bytes == 18_063_354_566
    assert (dflash.speculation.blocks, dflash.speculation.committed) == (10, 40)
    assert (dflash.speculation.mean_accept_len, dflash.speculation.accept_len_counts) == (4.0, "committed")
    assert report.arms[1].drafter.block_size == 16


def test_tokens_and_seconds_of_decode_are_not_made_up(imported, bench):
    for arm in imported(bench).arms:
        assert arm.decode_loop is arm.timing_scope is None
        for row in arm.measurements:
            assert row.decode_s is row.decode_tokens is row.e2e_s is row.token_ids is row.order is None


def test_its_speedup_and_its_acceptance_are_claims(imported, bench):
    speedup, acceptance = imported(bench).claims
    assert (speedup.name, speedup.value, speedup.baseline) == ("decode_speedup/dflash", 2.5, "baseline")
    assert (acceptance.value, acceptance.committed_per_block, acceptance.denominator) == (0.75, 4.0, "output_tokens")


@pytest.mark.parametrize("change", [{"acceptance_ratio": 0.5}, {"cycles": None}, {"tokens_per_cycle": 4.03}])
def test_what_the_acceptance_divides_by_is_unknown_unless_every_run_shows_it(imported, bench, change):
    bench["runs"][1]["dflash"] |= change
    assert imported(bench).claims[1].denominator == "unknown"


def test_missing_figures_are_missing_claims(imported, bench):
    del bench["summary"], bench["hardware"]
    report = imported(bench)
    assert report.claims == ()
    assert report.arms[0].stated_rates == ()


@pytest.mark.parametrize("field", ["peak_memory_gb", "tokens_per_cycle"])
@pytest.mark.parametrize("value", [-1, 1e308, 10**400])
def test_a_figure_that_no_machine_has_is_refused(evidence, bench, field, value):
    bench["runs"][1]["dflash"][field] = value
    outcome = evidence(bench).outcome
    assert isinstance(outcome, Invalid)
    assert f"runs.1.dflash.{field}" in outcome.message


def test_a_damaged_file_is_refused_not_passed_over(evidence, bench):
    bench["runs"][0]["baseline"]["ttft_ms"] = "1"
    outcome = evidence(bench).outcome
    assert isinstance(outcome, Invalid)
    assert "runs.0.baseline.ttft_ms" in outcome.message
    del bench["config"]["draft_model"]
    assert evidence(bench).outcome == NotAReport()
