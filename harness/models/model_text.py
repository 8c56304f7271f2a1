"""Between text and tokens: the chat template, where a stream stops, and the text that is scored."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from harness.base.errors import ModelError
from harness.models.library_errors import told_in_one_line
from harness.models.sandbox.sandbox import ask
from harness.models.tokenizer import REMEDY
from reports.records.measurement import StopReason
from reports.records.plan import StopRules
from workloads.base import PromptStyle, StopPolicy, Turn

TURN_END_TOKENS = ("<|im_end|>", "<end_of_turn>", "<turn|>", "<|eot_id|>", "<|end|>")
"""How models that chat mark the end of their turn (ChatML, Gemma 3, Gemma 4, Llama 3, Phi)."""
COMPLETION = "ask without it, with --set workload.prompt_style=completion"


class RefusedTurnsError(ModelError, ValueError):
    """A chat template that cannot be rendered for these turns: theirs or its own fault, which nobody can tell."""


class ModelText:
    """A verifier's tokenizer (of transformers, wrapped by mlx-lm or not) as workloads and the runner need it."""

    def __init__(
        self, tokenizer: Any, vocab: int | None = None, eos_ids: Sequence[int] = (), positions: int | None = None
    ) -> None:
        """`vocab`: rows that the model has for tokens, and `positions` that it has for a text, if they are known;
        `eos_ids` end a text beside the tokenizer's."""
        self._tokenizer, self._vocab, self._eos_ids, self.positions = tokenizer, vocab, tuple(eos_ids), positions

    @property
    def has_chat_template(self) -> bool:
        """The model came with a template for turns."""
        return bool(getattr(self._tokenizer, "chat_template", None))

    @property
    def bos(self) -> str:
        """The token a completion prompt begins with, if the tokenizer itself would add it; else empty."""
        bos = self._tokenizer.bos_token
        if not bos:
            return ""
        with self._told():
            adds = list(self._tokenizer.encode("x"))[:1] == [self._tokenizer.bos_token_id]
        return str(bos) if adds else ""

    def style(self, wanted: str) -> PromptStyle:
        """`auto` is chat where the model has a template and completion where it has none."""
        if wanted == "auto":
            return "chat" if self.has_chat_template else "completion"
        return "chat" if wanted == "chat" else "completion"

    def chat_text(self, turns: Sequence[Turn]) -> str:
        """The prompt of a conversation, ending where the assistant's answer begins.

        A template that came with the model is rendered in a process apart; one that is code of mlx-lm's runs here.

        Raises:
            ValueError: the model came without a template for turns.
            RefusedTurnsError: the template cannot be rendered, takes too long, or makes too much of them.
        """
        if not self.has_chat_template:
            raise ValueError("the model has no chat template; give text instead")
        messages = [turn._asdict() for turn in turns]
        tokenizer = self._tokenizer
        if getattr(tokenizer, "_chat_template", None) is not None:
            with self._told():
                return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
        thinking = {"enable_thinking": tokenizer.has_thinking} if hasattr(tokenizer, "has_thinking") else {}
        try:
            with self._told():
                template = tokenizer.get_chat_template()
            variables = tokenizer.special_tokens_map | thinking
            text = str(ask("render", template=template, messages=messages, variables=variables)["text"])
            if turns[-1].content.strip() not in text:
                raise ModelError("it leaves out what is asked")
            return text
        except ModelError as error:
            raise RefusedTurnsError(f"the model's chat template cannot be used: {error}: {COMPLETION}") from error

    def encode(self, text: str) -> list[int]:
        """Token ids, special tokens in the text recognised, none added.

        Raises:
            ModelError: the tokenizer raises, or gives a token that the model has no row for.
        """
        with self._told():
            tokens = [int(token) for token in self._tokenizer.encode(text, add_special_tokens=False)]
        if self._vocab is not None and max(tokens, default=0) >= self._vocab:
            raise ModelError(f"{self._name}: gives token {max(tokens)} to a model of {self._vocab} tokens: {REMEDY}")
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of the tokens, special ones left out.

        Raises:
            ModelError: the tokenizer raises.
        """
        with self._told():
            return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def stop_tokens(self, policy: StopPolicy) -> dict[int, StopReason]:
        """Ids that end a stream, with the reason each stands for; empty when the full budget is decoded."""
        return {} if policy.ignore_turn_stop else self.end_tokens()

    def end_tokens(self) -> dict[int, StopReason]:
        """All ids after which nothing counts as an answer: ends of text and ends of a turn."""
        ends: dict[int, StopReason] = {}
        known = getattr(self._tokenizer, "eos_token_ids", None)  # of transformers: one id, of mlx-lm's wrapper all
        eos = known if isinstance(known, set) and known else [self._tokenizer.eos_token_id]
        for token in (*eos, *self._eos_ids):
            if token is not None:
                ends[int(token)] = "eos"
        vocabulary = self._tokenizer.get_vocab()
        for text in TURN_END_TOKENS:
            if text in vocabulary:
                ends[int(vocabulary[text])] = "turn_end"
        return ends

    def answer_text(self, tokens: Sequence[int]) -> str:
        """The decoded text up to the first end of turn or text; nothing after it counts as an answer."""
        ends = self.end_tokens()
        cut = next((index for index, token in enumerate(tokens) if token in ends), len(tokens))
        return self.decode(tokens[:cut])

    @property
    def _name(self) -> str:
        return f"{getattr(self._tokenizer, 'name_or_path', '') or 'the model'}: its tokenizer"

    def _told(self) -> AbstractContextManager[None]:
        return told_in_one_line(self._name, REMEDY)


def stop_rules(policy: StopPolicy) -> StopRules:
    """The policy as a report records it."""
    return StopRules(eos=not policy.ignore_turn_stop, ignore_turn_stop=policy.ignore_turn_stop)
