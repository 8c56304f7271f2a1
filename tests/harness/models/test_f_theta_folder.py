"""An f_theta folder from elsewhere is refused in one line that names the file and the field."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from harness.base.errors import ModelError
from harness.models.f_theta_folder import MANIFEST, WEIGHTS, FThetaManifest, read_manifest
from tests.harness.f_theta_makers import manifest_of
from tests.harness.tiny_models import tiny_llama

DTYPES = {"F16": mx.float16, "F32": mx.float32}


def folder_of(folder: Path, manifest: FThetaManifest, **arrays: mx.array) -> Path:
    """A folder with what the manifest announces, `arrays` replacing some of it."""
    made = {tensor.name: mx.zeros(tensor.shape, DTYPES[tensor.dtype]) for tensor in manifest.tensors()}
    mx.save_safetensors(str(folder / WEIGHTS), made | arrays)
    (folder / MANIFEST).write_text(manifest.model_dump_json())
    return folder


def test_a_whole_folder_is_read(tmp_path: Path) -> None:
    manifest = manifest_of(tiny_llama(), 2, restorable=(0, 3))
    assert read_manifest(folder_of(tmp_path, manifest)) == manifest
    assert manifest.feature_bytes == 64


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"restorable": (3, 0)}, "restorable: not ascending"),
        ({"restorable": (0, 4)}, "restorable: not ascending layers below 4"),
        ({"restorable": ()}, "restorable"),
        ({"proposer": {"kind": "verifier_layer", "layer": 4, "features": 32}}, "proposer.layer: 4"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_refused(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    good = manifest_of(tiny_llama(), 2)
    document = good.model_dump(mode="json") | changes
    folder = folder_of(tmp_path, good)
    (folder / MANIFEST).write_text(FThetaManifest.model_validate(document, strict=False).model_dump_json())
    with pytest.raises(ModelError, match=says):
        read_manifest(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', "[" * 100_000, "\x00", "x" * 2_000_000])
def test_what_is_no_manifest_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    folder = folder_of(tmp_path, manifest_of(tiny_llama(), 2))
    (folder / MANIFEST).write_text(text)
    with pytest.raises(ModelError, match=r"manifest\.json") as caught:
        read_manifest(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "array", "says"),
    [
        ("layers.1.weight", mx.zeros((32, 31), mx.float16), r"layers\.1\.weight: F16 \[32, 31\] where"),
        ("layers.1.weight", mx.zeros((32, 32)), r"layers\.1\.weight: F32"),
        ("layers.9.weight", mx.zeros((1,)), r"layers\.9\.weight: a tensor that"),
    ],
)
def test_weights_other_than_announced_are_refused(tmp_path: Path, name: str, array: mx.array, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        read_manifest(folder_of(tmp_path, manifest_of(tiny_llama(), 2), **{name: array}))


def test_a_folder_without_files_is_no_f_theta(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"manifest\.json: missing"):
        read_manifest(tmp_path)
