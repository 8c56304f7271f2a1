"""The replaying drafter in MLX's graph, so that losslessness is tested there, too."""

from typing import ClassVar

import mlx.core as mx

from harness.engines.drafters import replay


class GraphReplayDraft(replay.ReplayDraft):
    """Its proposals as arrays."""

    def propose_lazily(self, last: int, limit: int) -> mx.array:
        """Exactly `limit` tokens, short proposals filled with zeros."""
        drafts = self.propose(last, limit)
        return mx.array([*drafts, *[0] * (limit - len(drafts))], mx.int32)


class ReplayDrafter(replay.ReplayDrafter):
    """Replays in two phases or in one graph."""

    single_graph: ClassVar[bool] = True

    def begin(self) -> GraphReplayDraft:
        """At the beginning of the prompt."""
        return GraphReplayDraft(self._whole, self._spoil)
