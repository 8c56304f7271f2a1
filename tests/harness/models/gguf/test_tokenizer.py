import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import gguf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from harness.base.errors import ModelError
from harness.models.faithfulness import fixed_text
from harness.models.gguf.gguf_file import GgufFile
from harness.models.gguf.tokenizer import byte_level_tokenizer, sentencepiece_tokenizer
from harness.models.resolve import resolve

Make = Callable[..., Any]
TEXTS = [
    "",
    " leading and trailing ",
    "two  three   four    spaces",
    "12 121 1212 0.5e-3 ½ ٣",
    "line\nline\n\n\nline\r\n\ttab",
    "héllo Ünïcode 漢字 한국어 🤷🏽 \u200b\u00a0",
    "the <b>the</b> <|im_start|>user\n12<|im_end|> <bos>",
    "\x01\x7f\u0378\U0010ffff",
    fixed_text(),
]
alphabet = st.sampled_from([*"the er12 \n\tabc<>|é漢🤷_", "<|im_end|>", "<b>", "<bos>", "  "])
texts = st.lists(alphabet, max_size=30).map("".join)


def bytes_to_characters() -> dict[int, str]:
    """GPT-2's map: printable bytes stand for themselves, the others for characters from 256 on, in order."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + n) for n, byte in enumerate(others)}


class ReferenceBytePairs:
    """Byte-level BPE in plain Python, digits apart: what the built tokenizer must equal."""

    def __init__(self, file: GgufFile) -> None:
        tokens = file.texts("tokenizer.ggml.tokens")
        kinds = file.integers("tokenizer.ggml.token_type")
        self.ids = {token: index for index, token in enumerate(tokens)}
        self.specials = [token for token, kind in zip(tokens, kinds, strict=True) if kind == 3]
        self.ranks = {tuple(merge.split(" ")): n for n, merge in enumerate(file.texts("tokenizer.ggml.merges"))}
        self.characters = bytes_to_characters()

    def encode(self, text: str) -> list[int]:
        found = []
        for piece in re.split("(" + "|".join(map(re.escape, self.specials)) + ")", text):
            if piece in self.specials:
                found.append(self.ids[piece])
            else:
                found += [index for word in self.words(piece) for index in self.join(word)]
        return found

    def words(self, text: str) -> Iterator[str]:
        import regex

        for run in regex.findall(r"\p{N}|\P{N}+", text):
            yield from regex.findall(r"'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", run)

    def join(self, word: str) -> list[int]:
        parts = [self.characters[byte] for byte in word.encode()]
        while len(parts) > 1:
            rank, at = min((self.ranks.get(pair, 10**9), n) for n, pair in enumerate(pairwise(parts)))
            if rank == 10**9:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [self.ids[part] for part in parts if part in self.ids]


def stored_pieces(file: GgufFile) -> Iterator[tuple[str, int, float]]:
    """Piece, type and score of every token of a GGUF."""
    yield from zip(
        file.texts("tokenizer.ggml.tokens"),
        file.integers("tokenizer.ggml.token_type"),
        file.numbers("tokenizer.ggml.scores"),
        strict=True,
    )


def converted_pieces(folder: Path) -> Iterator[tuple[str, int, float]]:
    """The same from a converted folder of Gemma, whose pieces are numbered from the best score down."""
    document = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    added = {token["content"]: 3 if token["special"] else 4 for token in document["added_tokens"]}
    for index, token in enumerate(document["model"]["vocab"]):
        spaces = len(token) > 1 and not token.strip("▁")
        byte = re.fullmatch("<0x[0-9A-F]{2}>", token)
        yield token, added.get(token, 4 if spaces else 6 if byte else 1), float(-index)


def reference_sentencepiece(pieces: Iterable[tuple[str, int, float]]) -> SentencePieceProcessor:
    """SentencePiece itself, on a model rebuilt from the pieces."""
    model = sentencepiece_model_pb2.ModelProto()
    unknown = 3
    for index, (token, kind, score) in enumerate(pieces):
        piece = model.pieces.add()
        piece.piece, piece.type, piece.score = token.replace(" ", "▁"), 2 if index == unknown else kind, score
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type, trainer.byte_fallback = trainer.BPE, True
    trainer.unk_id, trainer.bos_id, trainer.eos_id, trainer.pad_id = unknown, 2, 1, 0
    normalizer.name = "identity"
    normalizer.add_dummy_prefix, normalizer.remove_extra_whitespaces = False, False
    processor = SentencePieceProcessor()
    processor.LoadFromSerializedProto(model.SerializeToString())
    return processor


def encode(tokenizer: Tokenizer, text: str) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids


@given(text=texts | st.text(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
def test_byte_level_equals_a_plain_implementation(text: str, small_byte_level: tuple[Tokenizer, Any]) -> None:
    tokenizer, reference = small_byte_level
    ids = encode(tokenizer, text)
    assert ids == reference.encode(text)
    assert tokenizer.decode(ids, skip_special_tokens=False) == text


@given(text=texts | st.text(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
def test_sentencepiece_equals_sentencepiece(text: str, small_sentencepiece: tuple[Tokenizer, Any]) -> None:
    # Control tokens in a text are theirs alone: SentencePiece spells them out, transformers and K3 match them.
    text = text.replace("<bos>", "").replace("\0", "").replace("▁", "")
    tokenizer, reference = small_sentencepiece
    ids = encode(tokenizer, text)
    assert ids == reference.EncodeAsIds(text)
    assert tokenizer.decode(ids, skip_special_tokens=False) == text


@pytest.fixture(scope="module")
def small_byte_level(opened_llama: GgufFile) -> tuple[Tokenizer, ReferenceBytePairs]:
    return byte_level_tokenizer(opened_llama), ReferenceBytePairs(opened_llama)


@pytest.fixture(scope="module")
def small_sentencepiece(opened_gemma: GgufFile) -> tuple[Tokenizer, SentencePieceProcessor]:
    return sentencepiece_tokenizer(opened_gemma), reference_sentencepiece(stored_pieces(opened_gemma))


def test_the_saved_tokenizer_is_what_transformers_and_mlx_lm_read(tiny_llama: Make, converted: Make) -> None:
    from mlx_lm.utils import load_tokenizer

    model = tiny_llama()
    folder = converted(model)
    built = byte_level_tokenizer(GgufFile(model.gguf))
    theirs, wrapped = AutoTokenizer.from_pretrained(folder), load_tokenizer(folder)
    for text in TEXTS:
        assert theirs.encode(text) == wrapped.encode(text) == encode(built, text)
        assert theirs.decode(theirs.encode(text)) == text
    assert (theirs.bos_token, theirs.eos_token, theirs.pad_token) == ("<|im_start|>", "<|im_end|>", "<|im_end|>")
    chat = theirs.apply_chat_template([{"role": "user", "content": "12"}], tokenize=False)
    assert chat == "<|im_start|>user\n12<|im_end|>\n"
    assert theirs.encode(chat)[0] == 1


def test_a_start_token_is_put_once_before_the_text_where_the_model_wants_it(tiny_gemma: Make, converted: Make) -> None:
    from mlx_lm.utils import load_tokenizer

    folder = converted(tiny_gemma())
    theirs, wrapped = AutoTokenizer.from_pretrained(folder), load_tokenizer(folder)
    for text in TEXTS:
        ids = theirs.encode(text)
        assert ids == wrapped.encode(text)
        assert ids[0] == 2
        assert ids[1:] == theirs.encode(text, add_special_tokens=False)
        assert theirs.decode(ids, skip_special_tokens=False) == "<bos>" + text
    assert theirs.chat_template is None


@pytest.mark.parametrize("kind", ["tiny_llama", "tiny_gemma"])
def test_mlx_lms_streaming_detokenizer_puts_the_text_together(
    kind: str, request: pytest.FixtureRequest, converted: Make
) -> None:
    from mlx_lm.utils import load_tokenizer

    tokenizer = load_tokenizer(converted(request.getfixturevalue(kind)()))
    for text in TEXTS[1:6]:
        stream = tokenizer.detokenizer
        for index in tokenizer.encode(text, add_special_tokens=False):
            stream.add_token(index)
        stream.finalize()
        # mlx-lm drops one space at the start of a byte-level stream, so a report takes its text from decode().
        assert stream.text.lstrip(" ") == text.lstrip(" ")


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("tokenizer.ggml.model", "bert", r"tokenizer\.ggml\.model: 'bert' is not supported"),
        ("tokenizer.ggml.pre", "qwen2", r"tokenizer\.ggml\.pre: 'qwen2' is not supported"),
        ("tokenizer.ggml.merges", ["t h", "the"], r"tokenizer\.ggml\.merges: 'the' is no pair"),
        ("tokenizer.ggml.add_eos_token", True, r"add_eos_token: true is not supported"),
        ("tokenizer.ggml.tokens", ["a", "a"], r"tokenizer\.ggml\.tokens: not one distinct token"),
    ],
)
def test_a_tokenizer_k3_does_not_know_is_refused(
    key: str, value: Any, complaint: str, tiny_llama: Make, converted: Make
) -> None:
    def change(writer: gguf.GGUFWriter) -> None:
        kind = {str: gguf.GGUFValueType.STRING, bool: gguf.GGUFValueType.BOOL, list: gguf.GGUFValueType.ARRAY}
        writer.kv_data[0].pop(key, None)
        writer.add_key_value(key, value, kind[type(value)])

    with pytest.raises(ModelError, match=complaint):
        converted(tiny_llama(edit=change))


@cache
def source_texts() -> list[str]:
    """Texts of real code and prose: this test's own file, the standard library, and noise."""
    rng = random.Random(0)
    files = [Path(__file__), *sorted(Path(random.__file__).parent.glob("*.py"))[:40]]
    pool = "abc  \n\t<>/table 0123éü漢🤷∑\u00a0\u200b"
    noise = ["".join(rng.choices(pool, k=rng.randint(1, 40))) for _ in range(500)]
    return [file.read_text(encoding="utf-8")[:20_000] for file in files] + noise + TEXTS


@pytest.mark.gemma
def test_gemmas_tokenizer_equals_sentencepiece_on_its_own_vocabulary() -> None:
    folder = resolve("gemma3-270m").folder
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    reference = reference_sentencepiece(converted_pieces(folder))
    for text in source_texts():
        text = text.replace("<bos>", "").replace("▁", "")
        ids = encode(tokenizer, text)
        assert ids == reference.EncodeAsIds(text)
        assert tokenizer.decode(ids, skip_special_tokens=False) == text


@pytest.mark.model
def test_smollm2s_tokenizer_keeps_digits_apart_and_loses_nothing() -> None:
    tokenizer = AutoTokenizer.from_pretrained(resolve("smollm2-135m").folder)
    pieces = tokenizer.convert_ids_to_tokens(tokenizer.encode("code-1409 x12"))
    assert pieces == ["code", "-", "1", "4", "0", "9", "Ġx", "1", "2"]
    for text in source_texts():
        assert tokenizer.decode(tokenizer.encode(text)) == text
    chat = tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], add_generation_prompt=True)
    ids = chat["input_ids"] if hasattr(chat, "keys") else chat
    assert tokenizer.decode(ids).endswith("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n")
    assert ids.count(1) == 3
