"""The verifier that a drafter is trained for, in PyTorch from the folder that mlx-lm runs.

It answers two questions of a batch of prompts: how do they go on greedily, and what were the outputs of some layers
at every position on the way.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

from harness.base.errors import ModelError
from harness.models.folder.model_folder import open_folder
from harness.models.library_errors import told_in_one_line
from harness.models.tokenizer import library_options, open_tokenizer

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
            ModelError: transformers cannot open it, or keeps its layers where no known family does.
        """
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        opened = open_folder(folder)
        self.tokenizer: Any = open_tokenizer(opened)
        with told_in_one_line(f"{folder}: transformers cannot open it", "so it cannot be trained for"):
            model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                folder, dtype=dtype, use_safetensors=True, **library_options(opened)
            )
        self._model = model.eval().to(device)
        self._body = self._model.base_model
        if not hasattr(self._body, "layers") or self._model.get_output_embeddings() is None:
            raise ModelError(f"{folder}: {type(model).__name__} has no list of layers with a head behind it")
        self.device = device
        self.config: Any = self._model.config

    @property
    def layer_count(self) -> int:
        """Number of layers."""
        return len(self._body.layers)

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
        with self._tapped(layers) as taps:
            for _ in range(new_tokens):
                end = sum(part.shape[1] for part in tokens)
                positions = (seen[:, :end].cumsum(1) - 1).clamp(min=0)[:, -tokens[-1].shape[1] :]
                # By position: the cache's keyword has had two names.
                output = self._body(tokens[-1], seen[:, :end], positions, cache)
                choices.append(self._choices(output.last_hidden_state))
                features.append(torch.cat([taps[layer] for layer in layers], dim=-1).to(torch.bfloat16))
                tokens.append(choices[-1][:, -1:])
        return _cut(prompts, torch.cat(tokens, 1), torch.cat(choices, 1), torch.cat(features, 1))

    def _choices(self, hidden: Tensor) -> Tensor:
        """The token with the highest logit at every position; a soft cap would not change it."""
        flat = hidden.flatten(0, 1)
        best = [(flat[start : start + ROWS] @ self.head.T).argmax(-1) for start in range(0, len(flat), ROWS)]
        return torch.cat(best).view(hidden.shape[:2])

    @contextmanager
    def _tapped(self, layers: Sequence[int]) -> Iterator[dict[int, Tensor]]:
        taps: dict[int, Tensor] = {}

        def keep(layer: int) -> Any:
            def hook(module: Any, arguments: Any, output: Any) -> None:
                taps[layer] = output[0] if isinstance(output, tuple) else output

            return hook

        handles = [self._body.layers[layer].register_forward_hook(keep(layer)) for layer in layers]
        try:
            yield taps
        finally:
            for handle in handles:
                handle.remove()


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
