"""The tokenizer of a GGUF as the files `tokenizer.json` and `tokenizer_config.json`."""

import json
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE

from harness.base.errors import ModelError
from harness.models.gguf.gguf_file import GgufFile

SPACE = "\u2581"
"""What SentencePiece writes for a space."""


class TokenType(IntEnum):
    """`tokenizer.ggml.token_type`."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True)
class Vocabulary:
    """Tokens in order of their ids, and the type of each."""

    tokens: tuple[str, ...]
    types: tuple[int, ...]

    @property
    def ids(self) -> dict[str, int]:
        """Token to id."""
        return {token: index for index, token in enumerate(self.tokens)}

    def of_type(self, kind: TokenType) -> list[str]:
        """Tokens of one type, in order of their ids."""
        return [token for token, found in zip(self.tokens, self.types, strict=True) if found == kind]


def write_tokenizer(gguf: GgufFile, folder: Path) -> None:
    """Build the tokenizer and write both files into `folder`.

    Raises:
        ModelError: a kind of tokenizer or pre-tokenizer this conversion does not know.
    """
    kind = gguf.text("tokenizer.ggml.model")
    if kind == "gpt2":
        tokenizer = byte_level_tokenizer(gguf)
    elif kind == "llama":
        tokenizer = sentencepiece_tokenizer(gguf)
    else:
        raise ModelError(f"{gguf.path.name}: tokenizer.ggml.model: {kind!r} is not supported")
    _add_start_token(gguf, tokenizer)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    text = json.dumps(_settings(gguf), indent=2, ensure_ascii=False)
    (folder / "tokenizer_config.json").write_text(text + "\n", encoding="utf-8")


def token_ids(gguf: GgufFile) -> dict[str, int]:
    """The special token ids that config.json and generation_config.json carry."""
    names = {"bos_token_id": "bos", "eos_token_id": "eos", "pad_token_id": "padding"}
    keys = {name: f"tokenizer.ggml.{key}_token_id" for name, key in names.items()}
    return {name: gguf.integer(key) for name, key in keys.items() if gguf.has(key)}


def byte_level_tokenizer(gguf: GgufFile) -> Tokenizer:
    """Byte-level BPE (GPT-2): merges as listed, text split as `tokenizer.ggml.pre` names it.

    Raises:
        ModelError: a pre-tokenizer this conversion does not know.
    """
    vocabulary = _vocabulary(gguf)
    merges = [_pair(gguf, merge) for merge in gguf.texts("tokenizer.ggml.merges")]
    tokenizer = Tokenizer(BPE(vocab=vocabulary.ids, merges=merges))
    tokenizer.pre_tokenizer = _byte_level_split(gguf)
    tokenizer.decoder = decoders.ByteLevel()
    _add_tokens(tokenizer, vocabulary)
    return tokenizer


def _pair(gguf: GgufFile, merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    if not left or not right or " " in right:
        raise ModelError(f"{gguf.path.name}: tokenizer.ggml.merges: {merge!r} is no pair of tokens")
    return left, right


def _byte_level_split(gguf: GgufFile) -> pre_tokenizers.PreTokenizer:
    words = pre_tokenizers.ByteLevel(add_prefix_space=gguf.flag("tokenizer.ggml.add_space_prefix", False))
    name = gguf.text("tokenizer.ggml.pre")
    if name == "gpt-2":
        return words
    if name == "smollm":
        return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), words])
    raise ModelError(f"{gguf.path.name}: tokenizer.ggml.pre: {name!r} is not supported")


def sentencepiece_tokenizer(gguf: GgufFile) -> Tokenizer:
    """SentencePiece BPE with byte fallback and without a space put before the text, as Gemma's.

    Raises:
        ModelError: a tokenizer that puts a space before the text, or has no bytes to fall back on.
    """
    if gguf.flag("tokenizer.ggml.add_space_prefix", True):
        raise ModelError(f"{gguf.path.name}: tokenizer.ggml.add_space_prefix: true is not supported")
    stored = _vocabulary(gguf)
    # Runs of spaces are stored as text; inside the model a space is SPACE, also in these.
    tokens = tuple(token.replace(" ", SPACE) for token in stored.tokens)
    vocabulary = Vocabulary(tokens, stored.types)
    if len(vocabulary.of_type(TokenType.BYTE)) != 256:
        raise ModelError(f"{gguf.path.name}: tokenizer.ggml.token_type: not 256 byte tokens to fall back on")
    unknown = tokens[gguf.integer("tokenizer.ggml.unknown_token_id")]
    merges = ranked_merges(vocabulary, gguf.numbers("tokenizer.ggml.scores"))
    tokenizer = Tokenizer(
        BPE(vocab=vocabulary.ids, merges=merges, unk_token=unknown, fuse_unk=True, byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Replace(" ", SPACE)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()])
    _add_tokens(tokenizer, vocabulary)
    return tokenizer


def ranked_merges(vocabulary: Vocabulary, scores: list[float]) -> list[tuple[str, str]]:
    """Pairs that SentencePiece may join, best first.

    SentencePiece scores pieces, not pairs: any two pieces whose concatenation is a piece may be joined, the best
    piece first. User-defined pieces (runs of spaces) come before all others and longest first, since SentencePiece
    cuts them out of the text before it joins anything. Bytes and control tokens are never made by joining.
    """
    joinable = {
        token: (1, float(len(token))) if kind == TokenType.USER_DEFINED else (0, score)
        for token, kind, score in zip(vocabulary.tokens, vocabulary.types, scores, strict=True)
        if kind in (TokenType.NORMAL, TokenType.USER_DEFINED)
    }
    pairs = [
        (rank, token[:cut], token[cut:])
        for token, rank in joinable.items()
        for cut in range(1, len(token))
        if token[:cut] in joinable and token[cut:] in joinable
    ]
    pairs.sort(key=lambda pair: (pair[0], len(pair[1]), len(pair[2])), reverse=True)
    return [(left, right) for _, left, right in pairs]


def _vocabulary(gguf: GgufFile) -> Vocabulary:
    tokens = tuple(gguf.texts("tokenizer.ggml.tokens"))
    types = tuple(gguf.integers("tokenizer.ggml.token_type"))
    if len(tokens) != len(types) or len(set(tokens)) != len(tokens):
        raise ModelError(f"{gguf.path.name}: tokenizer.ggml.tokens: not one distinct token an entry of token_type")
    return Vocabulary(tokens, types)


def _add_tokens(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    """Tokens that are matched in the text as they stand, before anything is split."""
    for kind in (TokenType.CONTROL, TokenType.USER_DEFINED):
        special = kind == TokenType.CONTROL
        # Runs of spaces stay out: the text holds spaces there, and the merges make the runs of them.
        tokens = [token for token in vocabulary.of_type(kind) if token.strip(SPACE)]
        tokenizer.add_tokens([AddedToken(token, normalized=False, special=special) for token in tokens])


def _add_start_token(gguf: GgufFile, tokenizer: Tokenizer) -> None:
    if gguf.flag("tokenizer.ggml.add_eos_token", False):
        raise ModelError(f"{gguf.path.name}: tokenizer.ggml.add_eos_token: true is not supported")
    if not gguf.flag("tokenizer.ggml.add_bos_token", False):
        return
    index = gguf.integer("tokenizer.ggml.bos_token_id")
    start = gguf.texts("tokenizer.ggml.tokens")[index]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start}:0 $A:0", pair=f"{start}:0 $A:0 {start}:1 $B:1", special_tokens=[(start, index)]
    )


def _settings(gguf: GgufFile) -> dict[str, Any]:
    tokens = gguf.texts("tokenizer.ggml.tokens")
    settings: dict[str, Any] = {
        # The class that takes tokenizer.json as it is; a model's own class would rebuild the pre-tokenizer.
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": gguf.integer(f"{gguf.architecture}.context_length"),
        "clean_up_tokenization_spaces": False,
    }
    for name, key in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding")):
        if gguf.has(f"tokenizer.ggml.{key}_token_id"):
            settings[f"{name}_token"] = tokens[gguf.integer(f"tokenizer.ggml.{key}_token_id")]
    if gguf.has("tokenizer.chat_template"):
        settings["chat_template"] = gguf.text("tokenizer.chat_template")
    return settings
