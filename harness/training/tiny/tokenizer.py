"""The tokenizer of k3-tiny: byte-level BPE with single digits, trained on its own corpus."""

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from harness.models.model_text import ModelText

PAD, BOS, EOS = "<pad>", "<bos>", "<eos>"
SPECIAL = {PAD: 0, BOS: 1, EOS: 2}
VOCABULARY = 1024


def train_tokenizer(texts: Iterable[str], folder: Path) -> None:
    """Train on `texts` and write tokenizer.json and tokenizer_config.json into `folder`.

    Digits stay single, so that a code is copied digit by digit and numbers can be counted up.
    """
    tokenizer = Tokenizer(models.BPE())
    words = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), words])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[AddedToken(token, normalized=False, special=True) for token in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS}:0 $A:0",
        pair=f"{BOS}:0 $A:0 {BOS}:1 $B:1",
        special_tokens=[(BOS, SPECIAL[BOS])],
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 4096,
        "clean_up_tokenization_spaces": False,
        "bos_token": BOS,
        "eos_token": EOS,
        "pad_token": PAD,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def open_tiny_tokenizer(folder: Path) -> ModelText:
    """The tokenizer in `folder`, as workloads and the runner use it."""
    from transformers import PreTrainedTokenizerFast

    return ModelText(PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True))
