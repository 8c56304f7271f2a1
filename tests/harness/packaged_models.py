"""Wheels that carry a tiny model, as they come from the Python registry, and a registry of models that knows them."""

import hashlib
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class PackagedModel:
    """A model `tiny` in a registry of the test's own, its GGUF split over two wheels that pip finds in `wheels`."""

    wheels: Path
    registry: Path

    @property
    def environment(self) -> dict[str, str]:
        """What points pip at the wheels; it reaches nothing else."""
        return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}


def package(gguf: Path, folder: Path) -> PackagedModel:
    """Put the GGUF into two wheels, in `folder`, which is there."""
    wheels = folder / "wheels"
    wheels.mkdir()
    data = gguf.read_bytes()
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
    registry = folder / "registry.toml"
    registry.write_text(_toml(source, parts), encoding="utf-8")
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
