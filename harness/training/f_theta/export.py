"""Maps as an f_theta folder, written so that a kill leaves a folder that is whole, the old one or the new one."""

import os
from pathlib import Path

import mlx.core as mx
import numpy as np

from harness.base.errors import OutputError
from harness.models.f_theta_folder import CONFIG_TEXT, MANIFEST, WEIGHTS, FThetaManifest
from harness.models.folder.digest import compute_digest
from harness.training.f_theta.fit import Ridge
from reports.atomic_file import write_atomically


def export(out: Path, manifest: FThetaManifest, maps: Ridge) -> FThetaManifest:
    """Write the folder; returns the manifest with the digest of the weights.

    Raises:
        OutputError: it cannot be written.
    """
    width = 2 * manifest.kv_heads * manifest.head_dim
    arrays = {"feature_mean": mx.array(maps.mean), "feature_scale": mx.array(maps.scale)}
    for layer in manifest.restorable:
        columns = slice(width * layer, width * (layer + 1))
        arrays[f"layers.{layer}.weight"] = mx.array(maps.weight[:, columns]).astype(mx.float16)
        arrays[f"layers.{layer}.bias"] = mx.array(maps.bias[columns]).astype(mx.float16)
    try:
        out.mkdir(parents=True, exist_ok=True)
        save_arrays(out / WEIGHTS, arrays, {})
        write_atomically(CONFIG_TEXT.encode(), out / "config.json")
    except OSError as error:
        raise OutputError(f"{out}: cannot be written ({error.strerror}); use another --out") from error
    manifest = manifest.replace(weights=compute_digest([out / WEIGHTS]))
    put_manifest(out, manifest)
    return manifest


def save_arrays(path: Path, arrays: dict[str, mx.array], stated: dict[str, str]) -> None:
    """Write a safetensors file at once; `stated` is its metadata.

    Raises:
        OSError: it cannot be written.
    """
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("wb") as file:
        mx.save_safetensors(file, arrays, stated)
    os.replace(partial, path)


def put_manifest(out: Path, manifest: FThetaManifest) -> None:
    """Write the manifest of a folder.

    Raises:
        OutputError: it cannot be written.
    """
    try:
        write_atomically((manifest.model_dump_json(indent=2) + "\n").encode(), out / MANIFEST)
    except OSError as error:
        raise OutputError(f"{out}: cannot be written ({error.strerror}); use another --out") from error


def rounded(maps: Ridge) -> Ridge:
    """The maps as the file will hold them, rounded to float16."""
    weight, bias = (part.astype(np.float16).astype(np.float32) for part in (maps.weight, maps.bias))
    return Ridge(maps.mean, maps.scale, weight, bias)
