"""The matrix of losslessness: its cells, the file it can be taken up from, and what its table says."""

from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.checks.lossless_matrix import NO_DRAFTS, Cell, Results, Stream, cells, table

DIGEST = "sha256:" + "0" * 64


def stream(**changes: object) -> Stream:
    values = {
        "model": "m",
        "engine": "fused",
        "drafts": "random",
        "block_size": 4,
        "prompt": DIGEST,
        "prompt_tokens": 700,
        "tokens": 128,
        "blocks": 60,
        "drafted": 180,
        "accepted": 67,
        "outcome": "exact",
    }
    return Stream.model_validate(values | changes)


def test_every_combination_is_a_cell_and_a_block_of_one_drafts_nothing() -> None:
    found = list(cells(["fused", "fused-carry"], ["right", "wrong", "random"], [4, 1, 2]))
    assert len(found) == len(set(found)) == 2 * (1 + 3 + 3)
    assert {cell.drafts for cell in found if cell.block_size == 1} == {NO_DRAFTS}
    assert {cell.drafts for cell in found if cell.block_size > 1} == {"right", "wrong", "random"}


def test_what_was_decoded_is_not_decoded_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "matrix.jsonl"
    Results(path).add(stream())
    again = Results(path)
    assert again.streams == [stream()]
    assert again.has("m", Cell("fused", "random", 4), DIGEST, 128)
    for model, cell, prompt, tokens in [
        ("n", Cell("fused", "random", 4), DIGEST, 128),
        ("m", Cell("fused-carry", "random", 4), DIGEST, 128),
        ("m", Cell("fused", "wrong", 4), DIGEST, 128),
        ("m", Cell("fused", "random", 8), DIGEST, 128),
        ("m", Cell("fused", "random", 4), "sha256:" + "1" * 64, 128),
        ("m", Cell("fused", "random", 4), DIGEST, 64),
    ]:
        assert not again.has(model, cell, prompt, tokens)


def test_a_line_cut_short_by_a_stop_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "matrix.jsonl"
    results = Results(path)
    results.add(stream())
    whole = path.read_text()
    path.write_text(whole + whole[:40])
    again = Results(path)
    again.add(stream(block_size=8))
    assert [one.block_size for one in Results(path).streams] == [4, 8]


def test_another_file_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "matrix.jsonl"
    path.write_text('{"arms": []}\n')
    with pytest.raises(UsageError, match="line 1") as caught:
        Results(path)
    assert "\n" not in str(caught.value)


def test_the_table_counts_the_exact_and_names_the_others() -> None:
    shown = table(
        [
            stream(),
            stream(prompt_tokens=1500),
            stream(block_size=8, outcome="near_tie", position=57, gap=0.00031),
            stream(engine="fused-carry", outcome="divergent", position=5),
        ]
    )
    assert "| m, fused, random | 2 exact | near tie at 57, gap 0.00031 (700 tokens) |" in shown
    assert "| m, fused-carry, random | divergent at 5 (700 tokens) | - |" in shown
    assert shown.endswith("4 streams, prompts of 700, 1500 tokens: 2 exact, 1 near tie, 1 divergent")
