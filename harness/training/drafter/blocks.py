"""From sequences to blocks: where a block begins, what it reads, what it should propose, and how much that counts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from harness.training.drafter.net import Anchored
from harness.training.drafter.verifier import Continued

IGNORED = -1
CONTINUED_SHARE = 0.75
"""Of the anchors of a sequence that lie in the continuation; the others lie in the prompt."""


@dataclass(frozen=True)
class Blocks:
    """Blocks of several sequences in order: `tokens` (blocks, size), the anchor's token and masks behind it;
    `labels` (blocks, size - 1), places in the draft vocabulary, IGNORED where the greedy stream is not known;
    `features` (blocks, size - 1, layers x hidden), those from which the verifier itself chose the labels."""

    sequences: tuple[Anchored, ...]
    tokens: Tensor
    labels: Tensor
    features: Tensor

    def to(self, device: torch.device) -> "Blocks":
        """The same on `device`."""
        sequences = tuple(sequence.to(device) for sequence in self.sequences)
        return Blocks(sequences, self.tokens.to(device), self.labels.to(device), self.features.to(device))


def greedy_labels(sequence: Continued, anchors: Tensor, drafts: int) -> Tensor:
    """What the verifier itself would put at the `drafts` positions after each anchor, (anchors, drafts).

    After the first token where the text is not the verifier's choice its stream is not known: IGNORED from there.
    """
    places = anchors[:, None] + torch.arange(drafts)
    known = places < len(sequence.choices)
    places = places.clamp(max=len(sequence.choices) - 1)
    chosen = sequence.choices[places]
    followed = known & (sequence.tokens[places + 1] == chosen)
    # The first draft follows the anchor itself; each later one needs all drafts before it in the text.
    before = torch.cat([torch.ones(len(anchors), 1, dtype=torch.bool), followed[:, :-1]], dim=1)
    return torch.where(known & before.cumprod(1).bool(), chosen, IGNORED)


def blocks_of(chosen: Sequence[tuple[Continued, Tensor]], size: int, mask_token: int, places: Tensor) -> Blocks:
    """The blocks at the given ascending anchors of each sequence; `places` (vocabulary,) are those of the verifier's
    tokens in the draft vocabulary, IGNORED for one that is not in it."""
    sequences, tokens, labels, features = [], [], [], []
    for sequence, anchors in chosen:
        sequences.append(Anchored(sequence.features[: int(anchors[-1])], anchors))
        masked = torch.full((len(anchors), size), mask_token)
        masked[:, 0] = sequence.tokens[anchors]
        tokens.append(masked)
        greedy = greedy_labels(sequence, anchors, size - 1)
        labels.append(torch.where(greedy == IGNORED, IGNORED, places[greedy.clamp(min=0)]))
        behind = (anchors[:, None] + torch.arange(size - 1)).clamp(max=len(sequence.features) - 1)
        features.append(sequence.features[behind])
    return Blocks(tuple(sequences), torch.cat(tokens), torch.cat(labels), torch.cat(features))


def draw_anchors(sequence: Continued, count: int, rng: np.random.Generator) -> Tensor:
    """Ascending positions of up to `count` anchors, most of them in the continuation."""
    last = len(sequence.tokens) - 1
    within = rng.permutation(np.arange(1, sequence.prompt))
    behind = rng.permutation(np.arange(sequence.prompt, last))
    share = min(len(behind), max(round(count * CONTINUED_SHARE), count - len(within)))
    drawn = np.concatenate([behind[:share], within[: count - share]])
    return torch.from_numpy(np.sort(drawn))


def draft_vocabulary(sequences: Sequence[Continued], limit: int, vocab: int) -> Tensor:
    """Ids, ascending, of the up to `limit` tokens that the sequences have most often; of equals the lower id."""
    counts = torch.zeros(vocab, dtype=torch.long)
    for sequence in sequences:
        counts += torch.bincount(sequence.choices, minlength=vocab)
        counts += torch.bincount(sequence.tokens, minlength=vocab)
    order = torch.argsort(counts, descending=True, stable=True)
    kept = order[: min(limit, int((counts > 0).sum()))]
    return kept.sort().values


def places_in(ids: Tensor, vocab: int) -> Tensor:
    """(vocabulary,): the place of every token in `ids`, IGNORED for the others."""
    places = torch.full((vocab,), IGNORED)
    places[ids] = torch.arange(len(ids))
    return places
