import shutil
from pathlib import Path

import pytest

from harness.base.errors import ModelError
from harness.models.cache import cache_root, exclusive, install, package_folder, require_space, workspace
from harness.models.registry import PackageSource, entry


def never() -> None:
    pytest.fail("nobody holds this lock")


def test_k3_cache_moves_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_root() == cache
    monkeypatch.delenv("K3_CACHE")
    assert cache_root().is_absolute()
    assert "k3" in cache_root().parts


def test_another_gguf_is_another_folder() -> None:
    source = entry("smollm2-135m").source
    assert isinstance(source, PackageSource)
    assert package_folder("a", source) != package_folder("a", source.replace(gguf_sha256="0" * 64))


def test_a_workspace_is_gone_afterwards_and_what_a_killed_fetch_left_too(cache: Path) -> None:
    left = [cache / "partial" / name for name in ("tiny@1", "other@2")]
    for folder in left:
        (folder / "deep").mkdir(parents=True)
    with exclusive("tiny", never), workspace("tiny") as space:
        assert list((cache / "partial").iterdir()) == [space]
        (space / "file").touch()
    assert list((cache / "partial").iterdir()) == []
    assert list((cache / "locks").iterdir()) == []


def test_the_workspace_of_a_live_fetch_is_left_alone(cache: Path) -> None:
    with exclusive("other", never), workspace("other") as theirs:
        with exclusive("tiny", never), workspace("tiny") as ours:
            assert theirs != ours
        assert theirs.is_dir()


def test_an_error_removes_the_workspace(cache: Path) -> None:
    with pytest.raises(RuntimeError), exclusive("tiny", never), workspace("tiny"):
        raise RuntimeError
    assert list((cache / "partial").iterdir()) == []


def test_a_disk_without_room_is_refused_before_anything_is_downloaded(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = shutil.disk_usage("/").free
    require_space(1, "tiny")
    with pytest.raises(ModelError, match=r"tiny needs \d+ MB in .*K3_CACHE"):
        require_space(2 * free, "tiny")


def test_installing_moves_the_old_folder_aside(tmp_path: Path) -> None:
    made, target, aside = tmp_path / "made", tmp_path / "models" / "m", tmp_path / "aside"
    for content in ("one", "two"):
        made.mkdir()
        (made / "file").write_text(content)
        install(made, target, aside)
    assert (target / "file").read_text() == "two"
    assert (aside / "file").read_text() == "one"
