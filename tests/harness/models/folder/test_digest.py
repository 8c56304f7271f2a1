import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from harness.base.errors import ModelError
from harness.models.folder.digest import DigestRecord, compute_digest, known_digest, weights_digest


@pytest.fixture
def folder(tmp_path: Path, cache: Path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    save_file({"a": np.zeros(4, np.float32)}, made / "model-1.safetensors")
    save_file({"b": np.ones(4, np.float32)}, made / "model-2.safetensors")
    return made


def later(sidecar: Path) -> None:
    """Let a minute pass between the last change of the weights and what is remembered of them."""
    state = sidecar.stat()
    os.utime(sidecar, ns=(state.st_atime_ns, state.st_mtime_ns + 60_000_000_000))


def remembered(folder: Path, cache: Path) -> str:
    """The digest of the folder, read a while after its files were written."""
    digest = weights_digest(folder)
    (sidecar,) = (cache / "digests").iterdir()
    later(sidecar)
    assert known_digest(folder) == digest
    return digest


def altered(path: Path) -> bytes:
    """The bytes of a file, the last one another."""
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    return bytes(data)


def test_the_digest_names_contents_and_file_names_only(folder: Path, tmp_path: Path) -> None:
    first = weights_digest(folder)
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in sorted(folder.iterdir(), reverse=True):
        (copy / path.name).write_bytes(path.read_bytes())
    (copy / "README.md").write_text("not weights")
    assert weights_digest(copy) == first
    (copy / "model-2.safetensors").rename(copy / "model-3.safetensors")
    assert weights_digest(copy) != first


def test_a_changed_file_is_read_again(folder: Path, cache: Path) -> None:
    first = remembered(folder, cache)
    path = folder / "model-1.safetensors"
    path.write_bytes(altered(path))
    assert known_digest(folder) is None
    assert weights_digest(folder) not in (first, None)


@pytest.mark.parametrize("how", ["written over", "replaced", "restored by a copy"])
def test_other_weights_under_the_same_name_size_and_time_are_other_weights(
    folder: Path, cache: Path, tmp_path: Path, how: str
) -> None:
    """`cp -p`, `rsync -t` and `tar` set the modification time back; the change time they cannot set."""
    first = remembered(folder, cache)
    path = folder / "model-1.safetensors"
    before = path.stat()
    if how == "written over":
        path.write_bytes(altered(path))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    else:
        other = tmp_path / "other"
        other.write_bytes(altered(path))
        os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
        _ = other.replace(path) if how == "replaced" else shutil.copy2(other, path)
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert known_digest(folder) is None
    second = weights_digest(folder)
    assert second == compute_digest(sorted(folder.iterdir())) != first


def test_other_weights_show_on_a_disk_that_keeps_no_change_time(folder: Path, cache: Path) -> None:
    remembered(folder, cache)
    (sidecar,) = (cache / "digests").iterdir()
    path = folder / "model-1.safetensors"
    path.write_bytes(altered(path))
    record = DigestRecord.model_validate_json(sidecar.read_bytes())
    state = path.stat()
    stamp = record.files[0].replace(mtime_ns=state.st_mtime_ns, ctime_ns=state.st_ctime_ns)
    sidecar.write_text(record.replace(files=(stamp, record.files[1])).model_dump_json())
    later(sidecar)
    assert known_digest(folder) is None


def test_a_record_as_young_as_the_weights_is_not_believed(folder: Path, cache: Path) -> None:
    """Whatever is written within the same tick of the file system's clock carries the same time."""
    weights_digest(folder)
    assert known_digest(folder) is None
    (sidecar,) = (cache / "digests").iterdir()
    later(sidecar)
    assert known_digest(folder) == weights_digest(folder)


def test_the_digest_is_remembered_outside_the_model_folder(folder: Path, cache: Path) -> None:
    before = sorted(folder.iterdir())
    assert known_digest(folder) is None
    digest = remembered(folder, cache)
    assert sorted(folder.iterdir()) == before
    (sidecar,) = (cache / "digests").iterdir()
    sidecar.write_text("{broken")
    assert weights_digest(folder) == digest


def test_a_cache_that_cannot_be_written_costs_only_time(folder: Path, cache: Path) -> None:
    cache.write_text("a file where the cache folder should be")
    assert weights_digest(folder) == weights_digest(folder)
    assert known_digest(folder) is None


def test_a_truncated_file_is_an_error_though_its_digest_is_known(folder: Path) -> None:
    weights_digest(folder)
    path = folder / "model-1.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelError, match="truncated"):
        weights_digest(folder)
