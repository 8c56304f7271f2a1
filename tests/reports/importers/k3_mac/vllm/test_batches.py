def batch(agents, decode, e2e, **more):
    ratios = {"decode_parallel_speedup_vs_n1": 1.0, "e2e_parallel_speedup_vs_n1": 1.0, "torch_peak_alloc_gb": 0.0}
    return {"agents": agents, "decode_aggregate_tps": decode, "e2e_aggregate_tps": e2e, "recall": 1.0} | ratios | more


def file(version=2):
    return {
        "kind": "vllm_multitenant_parallel",
        "schema_version": version,
        "config": {
            "verifier_id": "google/gemma-4-26B-A4B-it",
            "dtype": "bfloat16",
            "quantization": None,
            "haystack_lines": 60,
            "modal_prompt_len": 1238,
            "gen_tokens": 24,
            "batch_sizes": [1, 2],
            "gpu_memory_utilization": 0.9,
            "max_model_len": 4096,
            "note": "continuous batching is the parallel path",
        },
        "env": {"gpu": "NVIDIA H200", "torch": "2.11.0+cu130"},
        "kv_pool": None,
        "results": [batch(1, 196.97, 205.54), batch(2, 281.7, 293.95, decode_parallel_speedup_vs_n1=None)],
    }


def test_every_batch_is_an_arm_with_both_rates(evidence, imported):
    assert evidence(file()).source == "k3-mac"
    report = imported(file())
    assert [(arm.name, arm.role, arm.engine) for arm in report.arms] == [
        ("vllm x1", "peer", "vllm"),
        ("vllm x2", "peer", "vllm"),
    ]
    assert [(rate.value, rate.scope) for rate in report.arms[1].stated_rates] == [(281.7, "decode"), (293.95, "e2e")]
    assert report.provenance.device == "NVIDIA H200"
    assert report.claims == ()
    assert any("recall 1.0" in note for note in report.imported.notes)


def test_it_is_legacy_and_as_schema_2_withheld(judged):
    assert judged(file(version=1)).verdict == "legacy"
    assert judged(file()).verdict == "withheld"
