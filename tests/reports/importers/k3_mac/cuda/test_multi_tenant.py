def file(version=1):
    return {
        "kind": "k3_cuda_multitenant_parallel",
        "schema_version": version,
        "config": {
            "verifier_id": "google/gemma-4-26B-A4B-it",
            "drafter_id": "z-lab/gemma-4-26B-A4B-it-DFlash",
            "gen_tokens": 24,
            "sink": 4,
            "window": 64,
            "batch_sizes": [1, 2],
            "exact_layers": [11, 5],
        },
        "env": {"gpu": "H200", "torch": "2.9.0"},
        "results": [
            {"agents": 1, "ar_aggregate_tps": 20.5, "restored_aggregate_tps": 19.0, "ar_recall": 1.0},
            {"agents": 2, "ar_aggregate_tps": 38.0, "restored_aggregate_tps": 36.5, "restored_recall": 1.0},
        ],
    }


def test_every_batch_is_a_plain_and_a_restored_arm(evidence, imported):
    assert evidence(file()).source == "k3-mac"
    report = imported(file())
    assert [(arm.name, arm.stated_rates[0].value) for arm in report.arms] == [
        ("ar x1", 20.5),
        ("restored x1", 19.0),
        ("ar x2", 38.0),
        ("restored x2", 36.5),
    ]
    assert report.arms[1].restoration.exact_layers == (5, 11)
    assert report.provenance.device == "H200"
    assert report.claims == ()


def test_it_is_legacy_and_as_schema_2_withheld(judged):
    assert judged(file()).verdict == "legacy"
    assert judged(file(version=2)).verdict == "withheld"
