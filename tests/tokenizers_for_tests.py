"""Real tokenizers, trained in the test: a byte-level BPE like the ones verifiers come with."""

from functools import cache
from typing import Any

from harness.models.model_text import ModelText

CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CORPUS = (
    "Note 1: the gardener paints the old bridge at noon. the secret code is BETA-1409.",
    "Read the notes. One of them holds a secret code. What is the secret code in the notes?",
    "Question: What is the secret code in the notes?\nAnswer: The secret code is KAPPA-7731",
) * 20


@cache
def trained(chat: bool) -> Any:
    """A byte-level BPE of about 400 tokens as a transformers tokenizer, with a chat template or without."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(CORPUS, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>")
    if chat:
        fast.chat_template = CHAT_TEMPLATE
    return fast


def model_text(chat: bool = True) -> ModelText:
    """The trained tokenizer as K3 uses it."""
    return ModelText(trained(chat))
