from datetime import UTC, datetime

import pytest

from reports.reading.evidence import Invalid


def bench(n_prompt, n_gen, **more):
    return {
        "build_commit": "8cf427ff",
        "build_number": 5163,
        "backends": "CUDA",
        "model_filename": "/home/somebody/models/qwen-7b.gguf",
        "model_type": "qwen2 7B Q4_K - Medium",
        "n_threads": 8,
        "n_prompt": n_prompt,
        "n_gen": n_gen,
        "n_depth": 0,
        "test_time": "2025-04-24T11:58:50Z",
        "avg_ns": 64_000_000,
        "avg_ts": 8000.0,
        "samples_ns": [60_000_000, 68_000_000],
        "samples_ts": [8533.3, 7529.4],
        **more,
    }


def test_every_test_is_an_arm_and_every_repetition_a_row(evidence, imported):
    document = [bench(512, 0), bench(0, 128), bench(512, 128), bench(0, 128, n_threads=4), bench(0, 16, n_depth=512)]
    assert evidence(document).source == "llama-bench"
    report = imported(document)
    assert report.kind == "benchmark"
    assert [arm.name for arm in report.arms] == ["pp512", "tg128", "pp512+tg128", "tg128#2", "tg16@d512"]
    assert {arm.role for arm in report.arms} == {"peer"}
    prompt, generation, both = (arm.measurements[1] for arm in report.arms[:3])
    assert (prompt.prefill_s, prompt.decode_s, prompt.e2e_s, prompt.decode_tokens) == (0.068, None, None, None)
    assert (generation.prefill_s, generation.decode_s, generation.decode_tokens) == (None, 0.068, 128)
    assert (both.prefill_s, both.decode_s, both.e2e_s, both.decode_tokens) == (None, None, 0.068, 128)
    assert [arm.stated_rates[0].scope for arm in report.arms[:3]] == ["prefill", "decode", "prompt_and_output"]
    assert [(row.sample, row.repeat) for row in report.arms[1].measurements] == [(1, 0), (1, 1)]


def test_nothing_is_compared_and_nobody_is_named(imported):
    report = imported([bench(512, 0), bench(0, 128)])
    assert report.claims == ()
    assert report.created_at == datetime(2025, 4, 24, 11, 58, 50, tzinfo=UTC)
    assert [model.id for model in report.provenance.models] == ["qwen-7b.gguf"]
    assert report.provenance.device == "CUDA"
    assert "somebody" not in report.model_dump_json()


def test_json_lines_and_a_single_test_are_read_alike(imported):
    tests = [bench(512, 0), bench(0, 128)]
    lines = imported(tests, lines=True)
    assert [arm.name for arm in lines.arms] == ["pp512", "tg128"]
    assert [arm.name for arm in imported(tests[0]).arms] == ["pp512"]


def test_a_test_of_prompt_and_generation_counts_the_tokens_of_both(judged):
    honest = bench(512, 128, avg_ts=640.0, samples_ns=[10**9])
    assert judged([honest]).verdict == "withheld"
    assert "CLAIM_NOT_REPRODUCIBLE" in judged([honest | {"avg_ts": 128.0}]).codes


def test_two_models_are_compared_in_one_file(imported, judged):
    both = [bench(0, 8, model_filename=f"/m/{name}.gguf", avg_ts=80.0, samples_ns=[10**8]) for name in ("a", "b")]
    assert [arm.name for arm in imported(both).arms] == ["tg8 a.gguf", "tg8 b.gguf"]
    assert [model.id for model in imported(both).provenance.models] == ["a.gguf", "b.gguf"]
    assert judged(both).verdict == "withheld"


def test_a_bad_date_is_no_date(imported):
    assert imported([bench(1, 0, test_time="soon")]).created_at is None
    assert imported([bench(1, 0, test_time="2025-04-24T11:58:50")]).created_at is None
    assert imported([bench(1, 0, test_time=None, avg_ts=None, samples_ns=None)]).arms[0].measurements == ()


@pytest.mark.parametrize(
    ("damaged", "field"),
    [
        (bench(512, 0, samples_ns=[1.5]), "1.samples_ns.0"),
        (bench(512, 0, samples_ns=[-1]), "1.samples_ns.0"),
        (bench(512, "0"), "1.n_gen"),
        (bench(0, 0), "1.n_gen"),
        ({"build_commit": "x"}, "1.model_filename"),
        (7, "1.document"),
    ],
)
def test_a_damaged_test_is_named(evidence, damaged, field):
    outcome = evidence([bench(512, 0), damaged]).outcome
    assert isinstance(outcome, Invalid)
    assert field in outcome.message
