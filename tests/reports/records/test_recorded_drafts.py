"""Recordings: found by the tokens that lead to them, and those that ship are of weights that ship."""

import pytest

from harness.models.registry import ShippedSource, registry
from reports.records.plan import tokens_digest
from reports.records.recorded_drafts import RecordedDrafts, RecordedStream, shipped_recordings

PROMPTS = ([5, 6, 7], [5, 6])
STREAMS = ((7, 8, 9), (7, 1, 2))


def small() -> RecordedDrafts:
    """Two prompts, one the other's beginning; every proposal names its stream and place."""
    return RecordedDrafts(
        verifier="sha256:" + "1" * 64,
        drafter="sha256:" + "2" * 64,
        runtime="torch",
        dtype="float32",
        block_size=3,
        made_with="torch",
        seed=1,
        items=3,
        streams=tuple(
            RecordedStream(
                prompt=tokens_digest(prompt),
                prompt_tokens=len(prompt),
                tokens=tokens,
                proposals=tuple((number, place) for place in range(len(tokens))),
            )
            for number, (prompt, tokens) in enumerate(zip(PROMPTS, STREAMS, strict=True))
        ),
    )


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("stream", [0, 1])
def test_a_proposal_is_found_by_prompt_stream_and_place(stream: int, place: int) -> None:
    context = [*PROMPTS[stream], *STREAMS[stream][:place]]
    assert small().proposal(context, STREAMS[stream][place]) == (stream, place)


@pytest.mark.parametrize(
    ("context", "last"),
    [
        ([5, 6, 7], 9),
        ([5, 6, 7, 8], 8),
        ([5, 6, 7, 7, 8, 9], 0),
        ([4, 6, 7], 7),
        ([5], 6),
        ([], 7),
        ([5, 6, 7, 1], 1),
    ],
)
def test_a_context_that_no_stream_leads_to_has_none(context: list[int], last: int) -> None:
    assert small().proposal(context, last) == ()


@pytest.mark.parametrize("recorded", shipped_recordings().values(), ids=lambda one: one.drafter[7:15])
def test_what_ships_is_whole_and_of_weights_that_are_known(recorded: RecordedDrafts) -> None:
    shipped = {entry.source.weights for entry in registry().models.values() if isinstance(entry.source, ShippedSource)}
    assert recorded.drafter in shipped
    assert recorded.made_with.startswith("torch ")
    assert len({stream.prompt for stream in recorded.streams}) == len(recorded.streams) >= 5
    for stream in recorded.streams:
        assert len(stream.tokens) == len(stream.proposals) > recorded.block_size
        assert {len(proposal) for proposal in stream.proposals} == {recorded.block_size - 1}
