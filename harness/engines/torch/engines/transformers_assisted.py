"""A peer: transformers' own assisted generation, by prompt lookup or by a draft model, over a prompt that was read.

A draft model reads the prompt within `generate`, in the first block, so what that takes counts as decoding.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ClassVar

import torch
from torch import Tensor
from transformers import DynamicCache

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Session, SessionStats
from harness.engines.drafters.base import told_of
from harness.engines.drafters.suffixes import LONGEST
from harness.engines.spec import EngineSettings
from harness.engines.torch.drafters.load import load_drafter
from harness.engines.torch.drafters.model import ModelDrafter
from harness.engines.torch.verifier.forward import CACHE, kv_bytes, native_cache, prefill
from harness.engines.torch.verifier.load import Verifier
from reports.drafters import NGRAM, SMALL_MODEL
from reports.engines import TRANSFORMERS_ASSISTED, EngineKind
from reports.records.measurement import DrafterInfo, Restoration


@dataclass
class AssistedSession:
    """A prompt read into the model's own cache."""

    prompt: tuple[int, ...]
    cache: DynamicCache
    first_token: int


@dataclass
class Watching:
    """Stands where a streamer does and before the verifier's forward: it hears of every block, and when it was made."""

    now: Callable[[], float]
    began: float
    blocks: list[Block] = field(default_factory=list)
    _fed: int = 0
    _verifying: float = 0.0
    _prompt: bool = True

    def before(self, module: Any, arguments: Any, named: dict[str, Any]) -> None:
        """The verifier is about to read the latest token and the drafts."""
        self._fed, self._verifying = int(named["input_ids"].shape[1]), self.now()

    def put(self, tokens: Tensor) -> None:
        """A block was committed; the first call tells the prompt."""
        if self._prompt:
            self._prompt = False
            return
        ended, committed = self.now(), tuple(int(token) for token in tokens.reshape(-1))
        self.blocks.append(
            Block(
                committed,
                drafted=self._fed - 1,
                accepted=len(committed) - 1,
                draft_s=self._verifying - self.began,
                verify_s=ended - self._verifying,
                seconds=ended - self.began,
            )
        )
        self.began = ended

    def end(self) -> None:
        """Nothing follows."""


class TransformersAssistedEngine:
    """`generate` with `prompt_lookup_num_tokens` or `assistant_model`, greedy, as many drafts a block as ours."""

    kind: ClassVar[EngineKind] = TRANSFORMERS_ASSISTED

    def __init__(self, verifier: Verifier, settings: EngineSettings) -> None:
        """Load the draft model, if one is asked for.

        Raises:
            EngineError: another kind of drafter than ngram or model, or one through a permuted vocabulary.
            ModelError: the draft model is missing or of no kind that can be run.
        """
        name, spec = self.kind.name, settings.drafter
        if spec is None or spec.kind not in (NGRAM.kind, SMALL_MODEL.kind) or spec.shuffle_seed is not None:
            raise EngineError(f"{name} drafts by lookup or with a small model; set drafter.kind to ngram or model")
        if spec.block_size < 2:
            raise EngineError(f"{name}: block_size: {spec.block_size} leaves no room for a draft; use 2 or more")
        self._verifier, self._spec, self._chunk = verifier, spec, settings.prefill_chunk
        self._drafter = load_drafter(spec, verifier)

    @property
    def restoration(self) -> Restoration:
        """None."""
        return Restoration(mode="none")

    @property
    def drafter(self) -> DrafterInfo:
        """As loaded."""
        return told_of(self._drafter, self._spec, "crop", "two_phase")

    def prefill(self, tokens: Sequence[int]) -> AssistedSession:
        """Read the prompt in chunks into the model's own cache."""
        cache = native_cache(self._verifier.model)
        return AssistedSession(tuple(tokens), cache, prefill(self._verifier.model, cache, tokens, self._chunk))

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """The blocks of one call of `generate`, as a streamer hears of them; they are yielded when it is over."""
        limit.check()
        own = _own(session)
        if limit.max_new_tokens == 1 or own.first_token in limit.stop_tokens:
            return
        model, watching = self._verifier.model, Watching(self._verifier.device.now, self._verifier.device.now())
        handle, read = model.register_forward_pre_hook(watching.before, with_kwargs=True), len(own.prompt)
        inputs = model.prepare_inputs_for_generation

        @wraps(inputs)
        def unread(ids: Tensor, **told: Any) -> Any:
            # `generate` begins by reading all it is given, though the cache has the prompt already.
            if told.get("is_first_iteration"):
                told["next_sequence_length"] = ids.shape[1] - read
            return inputs(ids, **told)

        model.prepare_inputs_for_generation = unread
        try:
            model.generate(
                torch.tensor([[*own.prompt, own.first_token]], device=model.device),
                do_sample=False,
                max_new_tokens=limit.max_new_tokens - 1,
                eos_token_id=sorted(limit.stop_tokens) or None,
                pad_token_id=0,
                streamer=watching,
                **{CACHE: own.cache},
                **self._assistance(),
            )
        finally:
            handle.remove()
            del model.prepare_inputs_for_generation
        yield from watching.blocks

    def stats(self, session: Session) -> SessionStats:
        """Bytes of the verifier's cache; that of a draft model is made and dropped within `generate`."""
        return SessionStats(0, 0, 0.0, 0.0, kv_bytes(_own(session).cache), ())

    def _assistance(self) -> dict[str, Any]:
        """How `generate` is told what drafts, and how much."""
        drafts = self._spec.block_size - 1
        if not isinstance(self._drafter, ModelDrafter):
            return {"prompt_lookup_num_tokens": drafts, "max_matching_ngram_size": LONGEST}
        assistant = self._drafter.model
        assistant.generation_config.num_assistant_tokens = drafts
        assistant.generation_config.num_assistant_tokens_schedule = "constant"
        assistant.generation_config.assistant_confidence_threshold = 0.0
        return {"assistant_model": assistant}


def _own(session: Session) -> AssistedSession:
    if not isinstance(session, AssistedSession):
        raise EngineError(f"{TransformersAssistedEngine.kind.name} was given a session of another engine")
    return session
