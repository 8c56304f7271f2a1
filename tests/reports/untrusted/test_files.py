import os
import socket

import pytest

from reports.untrusted import files
from reports.untrusted.files import MAX_BYTES, RefusedFileError, find_files, read_bounded


def refused(path):
    with pytest.raises(RefusedFileError) as caught:
        read_bounded(path)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_regular_file_is_read_whole(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(b"a" * 200_000)
    assert read_bounded(path) == b"a" * 200_000
    path.write_bytes(b"")
    assert read_bounded(path) == b""


def test_a_gigabyte_is_refused_by_its_size_without_reading(tmp_path):
    path = tmp_path / "big.json"
    with path.open("wb") as file:
        file.truncate(2**30)
    error = refused(path)
    assert str(2**30) in str(error)
    assert not error.could_not_open


def test_a_file_that_says_less_than_it_holds_is_cut_off_at_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    path.write_bytes(b"12345")
    monkeypatch.setattr(files, "MAX_BYTES", 4)
    assert "the limit is 4" in str(refused(path))
    monkeypatch.setattr(files, "MAX_BYTES", 5)
    assert read_bounded(path) == b"12345"


def test_a_file_of_exactly_the_limit_is_read(tmp_path):
    path = tmp_path / "x.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES)
    assert len(read_bounded(path)) == MAX_BYTES


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.json"))
        assert refused(tmp_path / "s.json").could_not_open
    assert "named pipe" in str(refused(tmp_path / "pipe.json"))
    assert "directory" in str(refused(tmp_path / "folder.json"))
    assert "device" in str(refused(tmp_path.__class__("/dev/zero")))


def test_what_the_file_system_refuses_is_told(tmp_path):
    (tmp_path / "loop.json").symlink_to("loop.json")
    (tmp_path / "broken.json").symlink_to("nothing")
    for name in ("gone.json", "loop.json", "broken.json", "nul\0.json", "x" * 300 + ".json"):
        assert refused(tmp_path / name).could_not_open


def test_a_link_is_followed_inside_its_folder_only(tmp_path):
    inner = tmp_path / "inner"
    (inner / "runs").mkdir(parents=True)
    (tmp_path / "outside.json").write_text("1")
    (inner / "runs" / "a.json").write_text("2")
    (inner / "latest.json").symlink_to("runs/a.json")
    (inner / "out.json").symlink_to("../outside.json")
    assert read_bounded(inner / "latest.json") == b"2"
    assert "out of its folder" in str(refused(inner / "out.json"))


def test_folders_are_walked_and_the_result_is_sorted(tmp_path):
    for name in ("b.json", "a/c.jsonl", "a/.hidden/d.JSON", "a/readme.md", "e.json.rows", "f.rows"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    names = [str(path.relative_to(tmp_path)) for path in find_files([tmp_path, tmp_path / "b.json"])]
    assert names == ["a/.hidden/d.JSON", "a/c.jsonl", "b.json", "e.json.rows"]


def test_named_files_are_always_returned_whatever_they_are(tmp_path):
    (tmp_path / "notes.txt").write_text("{}")
    wanted = [tmp_path / "missing.json", tmp_path / "notes.txt"]
    assert find_files(reversed(wanted)) == wanted


def test_oddities_named_like_reports_are_returned_so_that_they_become_findings(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "x.json").mkdir()
    (tmp_path / "x.json" / "y.json").write_text("{}")
    (tmp_path / "loop.json").symlink_to("loop.json")
    names = [str(path.relative_to(tmp_path)) for path in find_files([tmp_path])]
    assert names == ["loop.json", "pipe.json", "x.json", "x.json/y.json"]
    assert find_files([tmp_path / "x.json"]) == [tmp_path / "x.json", tmp_path / "x.json" / "y.json"]


def test_links_to_folders_are_not_followed(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a.json").write_text("{}")
    (tmp_path / "here" / "link").symlink_to(tmp_path / "there")
    (tmp_path / "here" / "self").symlink_to(tmp_path / "here")
    assert find_files([tmp_path / "here"]) == []


def test_a_very_deep_folder_does_not_exhaust_the_stack(tmp_path):
    folders = [tmp_path]
    for _ in range(1200):
        folders.append(folders[-1] / "d")
        folders[-1].mkdir()
    deepest = folders[-1] / "x.json"
    deepest.write_text("{}")
    try:
        assert find_files([tmp_path]) == [deepest]
    finally:
        deepest.unlink()
        for folder in reversed(folders[1:]):
            folder.rmdir()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_listed_is_returned(tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0)
    try:
        assert find_files([tmp_path]) == [locked]
    finally:
        locked.chmod(0o700)
