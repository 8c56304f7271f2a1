from datetime import date
from pathlib import Path

import pytest

from reports.retractions import FILE_NAME, MAX_BYTES, RetractionsError, load_retractions

DIGEST = "sha256:" + "a" * 64
OTHER = "sha256:" + "b" * 64
ENTRY = f"""
[[retraction]]
digest = "{DIGEST}"
report_id = "run-1"
claims = ["decode_speedup/fused"]
reason = "The drafter never ran."
date = 2026-11-29
superseded_by = "run-2"
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / FILE_NAME
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_an_entry_is_read_as_it_stands(tmp_path: Path) -> None:
    (entry,) = load_retractions(write(tmp_path, ENTRY)).entries
    assert (entry.digest, entry.report_id, entry.claims) == (DIGEST, "run-1", ("decode_speedup/fused",))
    assert (entry.date, entry.superseded_by) == (date(2026, 11, 29), "run-2")


@pytest.mark.parametrize(
    ("report_id", "digests", "found"),
    [
        ("run-1", set(), 1),
        ("other", {DIGEST}, 1),
        ("other", {OTHER, DIGEST}, 1),
        ("other", {OTHER}, 0),
        (None, set(), 0),
    ],
)
def test_either_name_is_enough(tmp_path: Path, report_id: str | None, digests: set[str], found: int) -> None:
    retractions = load_retractions(write(tmp_path, ENTRY))
    assert len(retractions.about(report_id, frozenset(digests))) == found


def test_an_entry_without_an_id_does_not_match_a_report_without_one(tmp_path: Path) -> None:
    text = f'[[retraction]]\ndigest = "{DIGEST}"\nreason = "r"\ndate = 2026-11-29\n'
    assert load_retractions(write(tmp_path, text)).about(None, frozenset()) == ()


def test_an_empty_file_retracts_nothing(tmp_path: Path) -> None:
    assert load_retractions(write(tmp_path, "# nothing yet\n")).entries == ()


def test_the_committed_file_is_readable() -> None:
    load_retractions(Path(__file__).parents[2] / "reports" / "evidence" / FILE_NAME)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ENTRY.replace(DIGEST, "sha256:abc"), "digest"),
        (ENTRY.replace("2026-11-29", '"2026-11-29"'), "date"),
        (ENTRY.replace("reason", "reasons"), "reason"),
        (ENTRY.replace('"The drafter never ran."', '""'), "reason"),
        (ENTRY.replace('["decode_speedup/fused"]', "[1]"), "claims"),
        (ENTRY.replace('["decode_speedup/fused"]', '"decode_speedup/fused"'), "claims"),
        ('[[retraction]]\nreason = "r"\ndate = 2026-11-29\n', "digest or a report_id"),
        ("[[retractions]]\n" + ENTRY, "retractions"),
        ("[retraction]\n", "retraction"),
        ("[[retraction\n", "TOML"),
        (b"\xff\xfe", "UTF-8"),
        ("x = " + "[" * 100_000, "TOML"),
        ("#" * (MAX_BYTES + 1), "limit"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(tmp_path: Path, text: str | bytes, says: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(RetractionsError) as caught:
        load_retractions(path)
    message = str(caught.value)
    assert says in message
    assert str(path) in message
    assert message.isprintable()


def test_a_folder_a_loop_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    loop = tmp_path / FILE_NAME
    loop.symlink_to(loop)
    for path in (tmp_path, loop, tmp_path / "missing.toml"):
        with pytest.raises(RetractionsError):
            load_retractions(path)
