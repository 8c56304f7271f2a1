"""What can be told of a verifier without its weights: how many layers it has, and which token texts never use."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import transformers

from harness.base.errors import UsageError
from harness.models.folder.model_folder import open_folder
from harness.models.library_errors import told_in_one_line
from harness.models.model_text import TURN_END_TOKENS
from harness.models.tokenizer import library_options, open_tokenizer


@dataclass(frozen=True)
class VerifierShape:
    """`layers` counts them; `spare` are special tokens that mark neither an end nor a beginning, ascending.

    Padding is spare where nothing else is: texts are read without any.
    """

    layers: int
    spare: tuple[int, ...]

    def spare_token(self) -> int:
        """The token to mask with: the highest one to spare.

        Raises:
            UsageError: the tokenizer has none.
        """
        if not self.spare:
            raise UsageError("--mask-token: the tokenizer has no special token to spare; name one that texts never use")
        return self.spare[-1]


def shape_of(folder: Path) -> VerifierShape:
    """Read config and tokenizer in `folder`.

    Raises:
        ModelError: transformers cannot open them.
    """
    opened = open_folder(folder)
    tokenizer = open_tokenizer(opened)
    with told_in_one_line(f"{folder}: transformers cannot open it", "so it cannot be trained for"):
        config: Any = transformers.AutoConfig.from_pretrained(folder, **library_options(opened))
    used = {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id}
    spare = {
        int(index)
        for index, token in tokenizer.added_tokens_decoder.items()
        if token.special and token.content not in TURN_END_TOKENS and index < config.vocab_size
    } - used
    return VerifierShape(int(config.num_hidden_layers), tuple(sorted(spare - {tokenizer.pad_token_id} or spare)))
