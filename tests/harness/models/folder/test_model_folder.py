import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from harness.base.errors import ModelError
from harness.base.trust import trusting_code
from harness.models.folder import model_folder
from harness.models.folder.model_folder import open_folder

CONFIG: dict[str, Any] = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two layers and a config that says so."""
    made = tmp_path / "model"
    made.mkdir()
    weights = {f"model.layers.{layer}.w.weight": np.ones(3, np.float32) for layer in range(2)}
    save_file(weights | {"model.norm.weight": np.ones(1, np.float32)}, made / "model.safetensors")
    (made / "config.json").write_text(json.dumps(CONFIG))
    return made


def configured(folder: Path, name: str = "config.json", **changes: Any) -> None:
    path = folder / name
    stated = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(stated | changes))


def complaint(folder: Path) -> str:
    """The one line with which the folder is refused."""
    with pytest.raises(ModelError) as caught:
        open_folder(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_honest_folder_is_opened(folder: Path) -> None:
    opened = open_folder(folder)
    assert (opened.config, opened.code) == (CONFIG, ())
    assert [tensor.name for tensor in opened.weights[0].tensors][-1] == "model.norm.weight"


@pytest.mark.parametrize(
    ("name", "changes", "place"),
    [
        ("config.json", {"model_file": "x.py"}, "config.json: model_file"),
        ("config.json", {"text_config": {"auto_map": {"AutoModel": "x.Y"}}}, "config.json: auto_map"),
        ("tokenizer_config.json", {"auto_map": ["x.Y", None]}, "tokenizer_config.json: auto_map"),
        ("preprocessor_config.json", {"auto_map": {"a": "b"}}, "preprocessor_config.json: auto_map"),
        ("tokenizer_config.json", {"tokenizer_class": "x.Y"}, "tokenizer_config.json: tokenizer_class 'x.Y'"),
        ("tokenizer_config.json", {"tool_parser_type": "../x"}, "tokenizer_config.json: tool_parser_type '../x'"),
        ("tokenizer_config.json", {"vocab_file": "/dev/zero"}, "tokenizer_config.json: vocab_file /dev/zero"),
        ("generation_config.json", {"trust_remote_code": True}, "generation_config.json: trust_remote_code"),
        ("config.json", {"attn_implementation": "some/kernel"}, "config.json: attn_implementation some/kernel"),
    ],
)
def test_a_field_that_brings_code_is_refused_by_name(folder: Path, name: str, changes: Any, place: str) -> None:
    configured(folder, name, **changes)
    assert f"may run code of its own ({place}): " in complaint(folder)
    with trusting_code():
        assert open_folder(folder).code == (place,)
    assert complaint(folder)


@pytest.mark.parametrize(
    "name",
    [
        "x.py",
        "pytorch_model.bin",
        "training_args.BIN",
        "rng.pth",
        "a.pkl",
        "adapter_config.json",
        "x.so",
        "optimizer.pt",
    ],
)
def test_a_file_that_is_code_or_a_pickle_is_refused_by_name(folder: Path, name: str) -> None:
    (folder / name).write_text("{}")
    assert f"may run code of its own ({name}" in complaint(folder)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("config.json", {"auto_map": None, "model_file": ""}),
        ("config.json", {"attn_implementation": "sdpa", "vision_config": {"model_type": "siglip_vision_model"}}),
        ("tokenizer_config.json", {"tokenizer_file": "/nobody/here/tokenizer.json", "vocab_file": "vocab.json"}),
        ("tokenizer_config.json", {"tokenizer_class": "LlamaTokenizerFast", "trust_remote_code": False}),
        ("config.json", {"vision_feature_layer": -2, "time_step_limit": [0.0, 9e9], "max_position_embeddings": 10**7}),
    ],
)
def test_what_brings_no_code_is_no_obstacle(folder: Path, name: str, changes: Any) -> None:
    configured(folder, name, **changes)
    assert open_folder(folder).code == ()


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"num_hidden_layers": 10**30}, "num_hidden_layers: no number that a model can have"),
        ({"num_hidden_layers": 10**7}, "num_hidden_layers: over 10000 layers"),
        ({"num_hidden_layers": 3}, "num_hidden_layers: 3 layers, and the weights hold 2"),
        ({"text_config": {"n_layer": 3}}, "text_config.n_layer: 3 layers, and the weights hold 2"),
        ({"vision_config": {"num_hidden_layers": 10**9}}, "vision_config.num_hidden_layers: over 10000 layers"),
        ({"num_hidden_layers": "two"}, "num_hidden_layers: 'two' is no count of layers"),
        ({"num_hidden_layers": True}, "num_hidden_layers: True is no count of layers"),
        ({"hidden_size": -(10**20)}, "hidden_size: no number that a model can have"),
        ({"architectures": 5}, "architectures: 5 is no list of names"),
        ({"architectures": ["a\nb"]}, "is no list of names"),
        ({"layer_types": ["x" * 300]}, "is no list of names"),
        ({"eos_token_id": "2"}, "eos_token_id: '2' is no token id"),
        ({"eos_token_id": [[2]]}, "is no token id"),
        ({"model_type": None}, "model_type: missing"),
    ],
)
def test_a_config_that_no_such_model_has_is_refused_by_its_field(folder: Path, changes: Any, found: str) -> None:
    configured(folder, **changes)
    assert "config.json: " in complaint(folder)
    assert found in complaint(folder)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"{", "not valid JSON"),
        (b"[1]", "not a JSON object"),
        (b"[" * 100_000, "brackets do not match"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "nested deeper"),
        (b'{"model_type": "llama", "x": NaN}', "NaN is not a JSON number"),
        (b'{"model_type": "llama", "x": 1e999}', "x: no number that a model can have"),
        (b'{"model_type": "llama", "x": ' + b"9" * 5_000 + b"}", "an integer of thousands of digits"),
        (b'{"model_type": "llama", "model_type": "gemma"}', "stands twice"),
        (b'{"model_type": "\\ud800"}', "lone surrogate"),
        (b'\xef\xbb\xbf{"model_type": "llama"}', "byte order mark"),
        ('{"model_type": "llama"}'.encode("utf-16"), "not UTF-8"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[" + b"[]," * 2_000_000 + b"[]]", "over 4 MB"),
        (b"", "not valid JSON"),
    ],
)
def test_settings_that_are_no_json_of_one_meaning_are_refused(folder: Path, text: bytes, found: str) -> None:
    (folder / "config.json").write_bytes(text)
    assert found in complaint(folder)


def test_nothing_but_a_file_is_opened(folder: Path) -> None:
    """A pipe waits for its writer, and /dev/zero has no end."""
    for name, make in (("tokenizer.json", os.mkfifo), ("merges.txt", lambda path: path.symlink_to("/dev/zero"))):
        make(folder / name)
        assert f"{name}: neither file nor folder" in complaint(folder)
        (folder / name).unlink()
    (folder / "additional_chat_templates").mkdir()
    os.mkfifo(folder / "additional_chat_templates" / "x.jinja")
    assert "x.jinja: neither file nor folder" in complaint(folder)


def test_a_link_to_nothing_is_no_obstacle_unless_it_is_the_weights(folder: Path) -> None:
    (folder / "README.md").symlink_to(folder / "gone")
    assert open_folder(folder)
    (folder / "model-2.safetensors").symlink_to(folder / "gone")
    assert "model-2.safetensors: missing" in complaint(folder)


def test_weights_that_do_not_fit_the_machine_are_refused_before_they_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_folder, "memory_bytes", lambda: 100)
    assert "weights of 0.0 GB, on a machine with 0.0 GB" in complaint(folder)


def test_a_tokenizer_larger_than_any_is_not_read(folder: Path) -> None:
    with (folder / "tokenizer.json").open("wb") as file:
        file.truncate(100 * 2**20)
    assert "tokenizer.json: over 64 MB" in complaint(folder)


@pytest.mark.parametrize(
    ("name", "found"), [("x.gguf", "a GGUF file, which K3 does not run"), ("x.txt", "a file, no model folder")]
)
def test_a_file_is_no_folder(tmp_path: Path, name: str, found: str) -> None:
    (tmp_path / name).write_bytes(b"GGUF")
    assert found in complaint(tmp_path / name)


def test_no_folder_and_no_config(folder: Path) -> None:
    assert "no such model folder" in complaint(folder / "nowhere")
    (folder / "config.json").unlink()
    assert "config.json: missing" in complaint(folder)


def test_a_hostile_name_does_not_reach_the_terminal(folder: Path) -> None:
    (folder / "a\x1b[31m\nb.py").write_text("")
    assert complaint(folder).isprintable()


def test_every_folder_k3_ships_is_opened() -> None:
    import harness.models

    shipped = Path(harness.models.__file__).parent
    folders = sorted(path.parent for path in shipped.glob("*/*/config.json"))
    assert len(folders) >= 5
    for folder in folders:
        assert open_folder(folder).code == ()
