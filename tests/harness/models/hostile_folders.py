"""Model folders that a stranger made to run code, hang, lie, fill the memory or end in a traceback.

`HOSTILE` holds one edit of a good folder a name. `random_hostile` makes a folder that nobody thought of, for fuzzing:
edits of the list, bytes changed anywhere, and other values in any JSON file.
"""

import json
import os
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness.models

GOOD = Path(harness.models.__file__).parent / "tiny" / "verifier"
CANARY = "canary"
"""A file beside the folder that is there only if something of the folder has run."""
Edit = Callable[[Path], None]
STRANGE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**7,
    10**30,
    1e308,
    "",
    "x" * 10_000,
    "\x1b[31m",
    [],
    {},
    [[1]],
    {"a": 1},
)


def write_good(folder: Path) -> Path:
    """A whole model that runs: K3's own tiny one."""
    shutil.copytree(GOOD, folder)
    return folder


def random_hostile(folder: Path, rng: random.Random) -> str:
    """Write a good folder at `folder`, spoil it by one to three edits, and say which."""
    write_good(folder)
    told = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(("listed", "bytes", "value", "cut"))
        if kind == "listed":
            name = rng.choice(sorted(HOSTILE))
            told.append(name)
            spoil(folder, name)
            continue
        path = rng.choice(sorted(path for path in folder.iterdir() if path.is_file() and path.stat().st_size < 10**8))
        told.append(f"{kind} of {path.name}")
        _spoil_file(path, kind, rng)
    return ", ".join(told)


def spoil(folder: Path, name: str) -> None:
    """Do one edit of the list; on a folder that other edits spoiled before, as far as that goes."""
    try:
        HOSTILE[name](folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return


def _spoil_file(path: Path, kind: str, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if kind == "cut":
        path.write_bytes(data[: rng.randint(0, len(data))])
        return
    if kind == "value" and path.suffix == ".json":
        try:
            document = json.loads(data)
            places = list(_places(document))
            holder, key = rng.choice(places)
            holder[key] = rng.choice(STRANGE)
            path.write_text(json.dumps(document))
            return
        except (ValueError, IndexError, RecursionError):
            pass
    for _ in range(rng.randint(1, 8)):
        if data:
            data[min(rng.randrange(len(data)), rng.randrange(1, 4096)) % len(data)] = rng.randrange(256)
    path.write_bytes(data)


def _places(document: Any) -> Any:
    """Every container of a document with a key of it."""
    if isinstance(document, dict | list):
        for key in list(document) if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from _places(document[key])


def code(folder: Path) -> str:
    """Python that leaves the canary."""
    return f"open({str(folder.parent / CANARY)!r}, 'w').close()\n"


def settings(name: str, **changes: Any) -> Edit:
    """Change fields of a JSON file, which may not be there yet."""

    def edit(folder: Path) -> None:
        path = folder / name
        stated = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(stated | changes))

    return edit


def content(name: str, data: bytes) -> Edit:
    """Put other bytes into a file."""
    return lambda folder: _unit((folder / name).write_bytes(data))


def program(name: str, **fields: Any) -> Edit:
    """A Python file that leaves the canary, and fields of config.json that name it."""

    def edit(folder: Path) -> None:
        (folder / name).write_text(code(folder))
        settings("config.json", **fields)(folder)

    return edit


def template(text: str) -> Edit:
    """A chat template; CANARY in it stands for the canary's path."""
    return lambda folder: _unit(
        (folder / "chat_template.jinja").write_text(text.replace("CANARY", str(folder.parent / CANARY)))
    )


def header(change: Callable[[dict[str, Any]], None]) -> Edit:
    """Change the safetensors header; the tensors' bytes stay."""

    def edit(folder: Path) -> None:
        path = folder / "model.safetensors"
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        document = json.loads(data[8 : 8 + length])
        change(document)
        text = json.dumps(document).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])

    return edit


def first(document: dict[str, Any], **changes: Any) -> None:
    """Change the entry of the first tensor."""
    name = next(name for name in document if name != "__metadata__")
    document[name] = document[name] | changes


def overlap(document: dict[str, Any]) -> None:
    """Let the second tensor begin within the first."""
    names = sorted(
        (name for name in document if name != "__metadata__"), key=lambda name: document[name]["data_offsets"]
    )
    start, end = document[names[1]]["data_offsets"]
    document[names[1]]["data_offsets"] = [start - 4, end - 4]


def renamed(document: dict[str, Any]) -> None:
    """Call a tensor that of layer 10**30."""
    name = next(name for name in document if "layers.0." in name)
    document[name.replace("layers.0.", f"layers.{10**30}.")] = document.pop(name)


def tokenizer(**changes: Any) -> Edit:
    return settings("tokenizer.json", **changes)


def vocabulary(change: Callable[[dict[str, Any]], None]) -> Edit:
    """Change the model inside tokenizer.json."""

    def edit(folder: Path) -> None:
        document = json.loads((folder / "tokenizer.json").read_text())
        change(document["model"])
        (folder / "tokenizer.json").write_text(json.dumps(document))

    return edit


def instead(name: str, make: Callable[[Path], None]) -> Edit:
    """Put something else than a file in a file's place."""

    def edit(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return edit


def sparse(name: str, size: int) -> Edit:
    def edit(folder: Path) -> None:
        with (folder / name).open("ab") as file:
            file.truncate(size)

    return edit


def removed(*names: str) -> Edit:
    return lambda folder: [(folder / name).unlink() for name in names] and None


def zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _unit(_: object) -> None:
    return None


CONFIG, TOKENS, GENERATION, WEIGHTS = (
    "config.json",
    "tokenizer_config.json",
    "generation_config.json",
    "model.safetensors",
)
DEEP = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
LOOP = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
DOUBLE = "{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}"

CODE: dict[str, Edit] = {
    "model_file": program("evil.py", model_file="evil.py"),
    "model_file in text_config": program("evil.py", text_config={"model_file": "evil.py"}),
    "model_file that is not there": settings(CONFIG, model_file="../evil.py"),
    "auto_map in config": program("evil.py", auto_map={"AutoModelForCausalLM": "evil.Model", "AutoConfig": "evil.C"}),
    "auto_map in tokenizer_config": settings(TOKENS, auto_map={"AutoTokenizer": ["evil.T", None]}),
    "auto_map as a list": settings(TOKENS, auto_map=["evil.T", None]),
    "auto_map of a hub": settings(CONFIG, auto_map={"AutoConfig": "somebody/else--evil.C"}),
    "auto_map in a processor": settings("preprocessor_config.json", auto_map={"AutoProcessor": "evil.P"}),
    "modeling file": program("modeling_evil.py"),
    "tokenization file": program("tokenization_evil.py"),
    "shared object": content("evil.so", b"\x7fELF"),
    "pickle bin": content("pytorch_model.bin", b"\x80\x04."),
    "pickle pt": content("evil.pt", b"\x80\x04."),
    "pickle pkl": content("evil.PKL", b"\x80\x04."),
    "pickle pth": content("consolidated.00.pth", b"\x80\x04."),
    "adapter config": settings("adapter_config.json", base_model_name_or_path="/nowhere"),
    "adapter weights": content("adapters.safetensors", b""),
    "trust_remote_code": settings(CONFIG, trust_remote_code=True),
    "custom_generate": settings(GENERATION, custom_generate="evil"),
    "kernel of a hub": settings(CONFIG, attn_implementation="somebody/evil-kernel"),
    "class with a module": settings(TOKENS, tokenizer_class="evil.Tokenizer"),
    "class of its own": settings(TOKENS, tokenizer_class="EvilTokenizer"),
    "chat_template_type": settings(TOKENS, chat_template_type="../../evil"),
    "tool_parser_type with a path": settings(TOKENS, tool_parser_type="../evil"),
    "model_type with a path": settings(CONFIG, model_type="../evil"),
    "vocabulary of another place": settings(TOKENS, vocab_file="/dev/zero"),
}
TEMPLATES: dict[str, Edit] = {
    "template loops": template(LOOP),
    "template doubles": template(DOUBLE),
    "template multiplies": template("{{ 'a' * 10**11 }}"),
    "template formats": template("{{ '%999999999999d' % 1 }}"),
    "template raises": template("{{ raise_exception('system first') }}"),
    "template does not parse": template("{% for m in messages %}{{ m"),
    "template reaches attributes": template("{{ ''.__class__.__mro__ }}"),
    "template reaches the system": template("{{ cycler.__init__.__globals__.os.system('touch CANARY') }}"),
    "template calls itself": template("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
    "template includes": template("{% include '/etc/passwd' %}"),
    "template says nothing": template("silence"),
    "template is a number": settings(TOKENS, chat_template=5),
    "template without default": settings(TOKENS, chat_template=[{"name": "tools", "template": "x"}]),
}
TOKENIZERS: dict[str, Edit] = {
    "no tokenizer": removed("tokenizer.json", TOKENS),
    "no tokenizer.json": removed("tokenizer.json"),
    "no tokenizer_config.json": removed(TOKENS),
    "ids are strings": vocabulary(
        lambda model: model.update(vocab={key: str(at) for key, at in model["vocab"].items()})
    ),
    "merges of nothing": vocabulary(lambda model: model.update(merges=["x y z"])),
    "model of another kind": tokenizer(model={"type": "Abacus"}),
    "unknown token unknown": tokenizer(model={"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "u"}),
    "regex does not parse": tokenizer(normalizer={"type": "Replace", "pattern": {"Regex": "("}, "content": ""}),
    "text to one token": tokenizer(normalizer={"type": "Replace", "pattern": {"Regex": "(.|\\n)+"}, "content": "x"}),
    "ids beyond the model": vocabulary(
        lambda model: model.update(vocab={key: at + 10**6 for key, at in model["vocab"].items()})
    ),
    "tokenizer is a list": content("tokenizer.json", b"[1]"),
    "tokenizer is deep": content("tokenizer.json", DEEP),
    "tokenizer is no UTF-8": content("tokenizer.json", b"\xff\xfe{}"),
    "tokenizer is NaN": content("tokenizer.json", b"NaN"),
    "tokenizer is 100 MB": sparse("tokenizer.json", 100 * 2**20),
    "tokenizer is a pipe": instead("tokenizer.json", os.mkfifo),
    "tokenizer has no end": instead("tokenizer.json", zero),
    "tokenizer_config is a list": content(TOKENS, b"[]"),
    "tool_parser_type nan": settings(TOKENS, tool_parser_type="nan"),
    "tool_parser_type NaN": content(TOKENS, b'{"tool_parser_type": NaN}'),
    "added tokens without ids": settings(TOKENS, added_tokens_decoder={"x": {"content": "<a>"}}),
    "added tokens are a number": settings(TOKENS, added_tokens_decoder=5),
    "token is an object": settings(TOKENS, bos_token={"a": 1}),
}
CONFIGS: dict[str, Edit] = {
    "10**30 layers": settings(CONFIG, num_hidden_layers=10**30),
    "10**7 layers": settings(CONFIG, num_hidden_layers=10**7),
    "9 layers": settings(CONFIG, num_hidden_layers=9),
    "layers in words": settings(CONFIG, num_hidden_layers="four"),
    "no layers": settings(CONFIG, num_hidden_layers=0),
    "layers of a picture": settings(CONFIG, vision_config={"num_hidden_layers": 10**9}),
    "hidden size of 10**12": settings(CONFIG, hidden_size=10**12),
    "vocabulary of 2**31": settings(CONFIG, vocab_size=2**31),
    "heads below zero": settings(CONFIG, num_attention_heads=-4),
    "no heads": settings(CONFIG, num_attention_heads=0, num_key_value_heads=0),
    "heads of no size": settings(CONFIG, head_dim=0),
    "pattern of zero": settings(CONFIG, sliding_window_pattern=0),
    "base in words": settings(CONFIG, rope_theta="high", rope_parameters=None),
    "base is a list": settings(CONFIG, rope_parameters={"full_attention": {"rope_theta": [1]}}),
    "architecture is a number": settings(CONFIG, architectures=5),
    "architecture with an escape": settings(CONFIG, architectures=["\x1b[31mEvil\n"]),
    "layer types are a number": settings(CONFIG, layer_types=5),
    "stop in words": settings(CONFIG, eos_token_id="two"),
    "stop in lists": settings(GENERATION, eos_token_id=[[2]]),
    "quantisation of nothing": settings(CONFIG, quantization={"bits": 10**6}),
    "unknown architecture": settings(CONFIG, model_type="abacus", architectures=["Abacus"]),
    "config is NaN": content(CONFIG, b'{"model_type": "gemma3_text", "rms_norm_eps": NaN}'),
    "config is infinite": content(CONFIG, b'{"model_type": "gemma3_text", "rms_norm_eps": 1e999}'),
    "config is deep": content(CONFIG, DEEP),
    "config is 5 MB": content(CONFIG, b"[" + b"[]," * 2_000_000 + b"[]]"),
    "config is no UTF-8": content(CONFIG, b"\xff\xfe\x00"),
    "config twice": content(CONFIG, b'{"model_type": "llama", "model_type": "gemma3_text"}'),
    "config has half a character": content(CONFIG, b'{"model_type": "\\ud800"}'),
    "config is a pipe": instead(CONFIG, os.mkfifo),
    "config is a folder": instead(CONFIG, Path.mkdir),
    "no config": removed(CONFIG),
    "generation_config is no JSON": content(GENERATION, b"{"),
}
WEIGHT_FILES: dict[str, Edit] = {
    "weights are cut": lambda folder: os.truncate(folder / WEIGHTS, 5_000),
    "weights are long": sparse(WEIGHTS, 2**41),
    "weights are empty": content(WEIGHTS, b""),
    "weights are a pointer": content(
        WEIGHTS, b"version https://lfs.invalid/v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n"
    ),
    "weights are a pipe": instead(WEIGHTS, os.mkfifo),
    "weights have no end": instead(WEIGHTS, zero),
    "header overlaps": header(overlap),
    "header of another type": header(partial(first, dtype="X32")),
    "header of a wrong type": header(partial(first, dtype="F64")),
    "header of 10**30 values": header(partial(first, shape=[10**30])),
    "header below zero": header(partial(first, shape=[-1])),
    "header of layer 10**30": header(renamed),
    "header is deep": content(WEIGHTS, len(DEEP).to_bytes(8, "little") + DEEP),
    "header is long": content(WEIGHTS, (2**63).to_bytes(8, "little") + b"{}"),
    "weights twice": lambda folder: _unit(shutil.copy(folder / WEIGHTS, folder / "model-2.safetensors")),
    "a shard is missing": lambda folder: _unit((folder / WEIGHTS).rename(folder / "model-00002-of-00002.safetensors")),
    "index leads out": settings("model.safetensors.index.json", weight_map={"a": "../../secret.safetensors"}),
    "index is no map": settings("model.safetensors.index.json", weight_map=5),
    "weights under another name": lambda folder: _unit((folder / WEIGHTS).rename(folder / "weights.safetensors")),
}
HOSTILE: dict[str, Edit] = CODE | TEMPLATES | TOKENIZERS | CONFIGS | WEIGHT_FILES
