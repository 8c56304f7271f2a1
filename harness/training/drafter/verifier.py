"""The verifier that a drafter is trained for, in PyTorch from the folder that mlx-lm runs.

It answers two questions of a batch of prompts: how do they go on greedily, and what were the outputs of some layers
at every position on the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

from harness.base.errors import ModelError
from harness.engines.torch.verifier.layer_outputs import LayerOutputs, layers_of
from harness.engines.torch.verifier.load import load_verifier

ROWS = 1024
"""Positions of which the logits over the whole vocabulary are in memory at a time."""


@dataclass(frozen=True)
class Continued:
    """A prompt and its greedy continuation: `tokens` (P + N,), of which `prompt` were given.

    `choices` and `features` are those of all positions but the last, which the verifier has not read: the token it
    would put after each (P + N - 1,), and the outputs of the layers there, concatenated (P + N - 1, layers x hidden).
    """

    tokens: Tensor
    prompt: int
    choices: Tensor
    features: Tensor


class TorchVerifier:
    """A causal model of transformers with its layers tapped."""

    def __init__(self, folder: Path, dtype: torch.dtype, device: torch.device) -> None:
        """Load the model in `folder` as `dtype` on `device`.

        Raises:
            ModelError: as `load_verifier`, or it has no head.
            EngineError: it keeps its layers where no known family does.
        """
        loaded = load_verifier(folder, device.type, str(dtype).removeprefix("torch."))
        self.tokenizer: Any = loaded.tokenizer
        self._model = loaded.model
        self._body = self._model.base_model
        self.layer_count = len(layers_of(self._model))
        if self._model.get_output_embeddings() is None:
            raise ModelError(f"{folder}: {type(self._model).__name__} has no head behind its layers")
        self.device = device
        self.config: Any = self._model.config

    @property
    def hidden_size(self) -> int:
        """Width of a layer's output."""
        return int(self.config.hidden_size)

    @property
    def table(self) -> Tensor:
        """Embedding table (vocabulary, hidden), without the factor that Gemma's model applies itself."""
        weight: Tensor = self._model.get_input_embeddings().weight
        return weight.detach()

    @property
    def head(self) -> Tensor:
        """The head (vocabulary, hidden)."""
        weight: Tensor = self._model.get_output_embeddings().weight
        return weight.detach()

    @property
    def softcap(self) -> float | None:
        """Bound of the logits, where the model has one."""
        cap = getattr(self.config, "final_logit_softcapping", None)
        return None if cap is None else float(cap)

    @torch.inference_mode()
    def normed(self, last: Tensor) -> Tensor:
        """The final norm of the last layer's outputs, which are on the device: what the head reads."""
        normed: Tensor = self._body.norm(last.to(self.head.dtype))
        return normed

    @torch.inference_mode()
    def continued(self, prompts: Sequence[Sequence[int]], new_tokens: int, layers: Sequence[int]) -> list[Continued]:
        """Every prompt with `new_tokens` greedy tokens after it, past any stop token.

        Prompts of a batch are padded on the left; a padded position is seen by nobody.
        """
        longest = max(len(prompt) for prompt in prompts)
        rows = [[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
        read = torch.tensor(rows, device=self.device)
        seen = torch.zeros(len(prompts), longest + new_tokens, dtype=torch.long, device=self.device)
        for row, prompt in enumerate(prompts):
            seen[row, longest - len(prompt) :] = 1
        cache = transformers.StaticCache(config=self.config, max_cache_len=longest + new_tokens)
        tokens, choices, features = [read], [], []
        with LayerOutputs(self._model, layers).capture() as taps:
            for _ in range(new_tokens):
                end = sum(part.shape[1] for part in tokens)
                positions = (seen[:, :end].cumsum(1) - 1).clamp(min=0)[:, -tokens[-1].shape[1] :]
                # By position: the cache's keyword has had two names.
                output = self._body(tokens[-1], seen[:, :end], positions, cache)
                choices.append(self._choices(output.last_hidden_state))
                tapped = taps.features()
                assert tapped is not None
                features.append(tapped.to(torch.bfloat16))
                tokens.append(choices[-1][:, -1:])
        return _cut(prompts, torch.cat(tokens, 1), torch.cat(choices, 1), torch.cat(features, 1))

    def _choices(self, hidden: Tensor) -> Tensor:
        """The token with the highest logit at every position; a soft cap would not change it."""
        flat = hidden.flatten(0, 1)
        best = [(flat[start : start + ROWS] @ self.head.T).argmax(-1) for start in range(0, len(flat), ROWS)]
        return torch.cat(best).view(hidden.shape[:2])


def _cut(prompts: Sequence[Sequence[int]], tokens: Tensor, choices: Tensor, features: Tensor) -> list[Continued]:
    """One record a row, without its padding."""
    longest = max(len(prompt) for prompt in prompts)
    cut = []
    for row, prompt in enumerate(prompts):
        start = longest - len(prompt)
        cut.append(
            Continued(tokens[row, start:].cpu(), len(prompt), choices[row, start:].cpu(), features[row, start:].cpu())
        )
    return cut
