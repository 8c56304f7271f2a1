import pytest

from reports.reading.evidence import Invalid, Legacy


@pytest.fixture
def parity():
    """Two blocks of one sample; one token of eight differs."""
    return {
        "kind": "k3_mlx_drafter_parity",
        "schema_version": 1,
        "config": {"verifier_path": "/Users/somebody/gemma", "drafter_id": "z-lab/draft", "n_samples": 1, "seed": 7},
        "agreement": 0.875,
        "samples": [
            {
                "sample": 0,
                "context_len": 719,
                "blocks": [
                    {"bonus": 1, "mlx_tokens": [1, 2, 3, 4], "torch_tokens": [1, 2, 3, 4], "matches": 4},
                    {"bonus": 1, "mlx_tokens": [1, 2, 3, 4], "torch_tokens": [1, 2, 3, 5], "matches": 3},
                ],
            }
        ],
        "passed": False,
    }


def test_blocks_become_blocks_and_the_agreement_a_claim(imported, parity):
    report = imported(parity)
    result = report.parity
    assert report.kind == "parity"
    assert (result.reference_runtime, result.candidate_runtime) == ("torch", "mlx")
    assert [(block.sample, block.block, block.context_tokens) for block in result.blocks] == [(0, 0, 719), (0, 1, 719)]
    assert result.blocks[1].candidate_tokens == (1, 2, 3, 4)
    assert result.blocks[1].reference_tokens == (1, 2, 3, 5)
    assert result.stated_agreement == 0.875
    claim = report.claims[0]
    assert (claim.name, claim.value, claim.status) == ("drafter_parity/mlx", 0.875, "claimed")
    assert "stated: passed False, min_agreement None" in report.imported.notes


def test_weights_and_dtypes_are_unknown_and_nobody_is_named(imported, parity):
    report = imported(parity)
    assert report.parity.drafter_weights is report.parity.reference_dtype is report.parity.candidate_dtype is None
    assert "somebody" not in report.model_dump_json()


def test_no_agreement_is_no_claim(imported, parity):
    del parity["agreement"]
    assert imported(parity).claims == ()


def test_it_is_legacy_below_schema_2_and_names_a_wrong_field(evidence, parity):
    assert isinstance(evidence(parity).outcome, Legacy)
    parity["schema_version"] = 2
    parity["samples"][0]["blocks"][1]["mlx_tokens"][2] = -1
    outcome = evidence(parity).outcome
    assert isinstance(outcome, Invalid)
    assert "samples.0.blocks.1.mlx_tokens.2" in outcome.message
