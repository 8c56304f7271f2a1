"""The plain model's stream and that of a drafting engine, after one prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.engines.base import Block, DecodeLimit
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from reports.records.measurement import DrafterInfo


@dataclass(frozen=True)
class BesidePlain:
    """Both streams, first tokens included; the blocks of the second, and what is told of its drafter."""

    plain: list[int]
    drafted: list[int]
    blocks: list[Block]
    said: DrafterInfo | None


def beside_plain(verifier: Verifier, prompt: Sequence[int], name: str, request: DrafterSpec) -> BesidePlain:
    """40 tokens of engine `ar`, and of engine `name` with the drafter of `request`."""
    streams = []
    for engine in (
        build("ar", verifier, EngineSettings(prefill_chunk=16)),
        build(name, verifier, EngineSettings(prefill_chunk=16, drafter=request)),
    ):
        session = engine.prefill(prompt)
        blocks = list(engine.decode(session, DecodeLimit(40, {})))
        streams.append([session.first_token, *(token for block in blocks for token in block.tokens)])
    return BesidePlain(*streams, blocks, engine.drafter)
