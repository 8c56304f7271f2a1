"""A crash at any byte leaves a chain that is whole or is mended with the tear told; nothing acknowledged is lost."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runs.run_ledger.chain import Chain, read_chain
from harness.runs.run_ledger.entries import AnyEntry, Mended, RunResumed, RunStarted
from harness.runs.run_ledger.history import mends
from reports.records.record import digest_of

AT = datetime(2026, 11, 30, tzinfo=UTC)


def start(number: int) -> RunStarted:
    digest = digest_of(str(number).encode())
    return RunStarted(at=AT, preset=f"run-{number}", plan=digest, family=digest, place=digest)


def written(*entries: AnyEntry, data: bytes = b"") -> bytes:
    for entry in entries:
        data += read_chain(data).appended(entry)[0]
    return data


def names(chain: Chain) -> list[str]:
    return [one.entry.preset for one in chain.entries if isinstance(one.entry, RunStarted)]


def test_every_line_names_the_one_before_it() -> None:
    chain = read_chain(written(start(0), start(1), start(2)))
    assert names(chain) == ["run-0", "run-1", "run-2"]
    assert [one.entry.previous for one in chain.entries] == [None, *(one.digest for one in chain.entries[:-1])]
    assert (chain.tail, mends(chain)) == (b"", (0, 0))
    assert chain.head == digest_of(written(start(0), start(1), start(2)).splitlines()[-1])


def test_a_crash_at_every_byte_of_a_line_is_told_and_loses_no_line_before_it() -> None:
    whole = written(start(0), start(1))
    after = written(start(2), data=whole)
    for cut in range(len(whole) + 1, len(after)):
        chain = read_chain(written(start(3), data=after[:cut]))
        all_but_the_newline = cut == len(after) - 1
        assert names(chain) == ["run-0", "run-1", *["run-2"] * all_but_the_newline, "run-3"]
        assert (mends(chain), chain.tail) == ((0 if all_but_the_newline else 1, 0), b"")


@given(st.lists(st.integers(0, 400), max_size=6))
def test_crash_after_crash(cuts: list[int]) -> None:
    """Each writer is killed after so many bytes, or comes to its end; the next one mends what it left."""
    data, acknowledged = b"", []
    for number, cut in enumerate(cuts):
        added, _ = read_chain(data).appended(start(number))
        data += added[:cut]
        acknowledged += [f"run-{number}"] * (cut >= len(added))
    chain = read_chain(written(start(99), data=data))
    assert chain.tail == b""
    assert mends(chain)[1] == 0
    assert [name for name in names(chain) if name in {*acknowledged, "run-99"}] == [*acknowledged, "run-99"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda lines: [lines[0], lines[2]],
        lambda lines: [lines[0].replace(b"run-0", b"run-9"), *lines[1:]],
        lambda lines: [lines[1], lines[0], lines[2]],
        lambda lines: lines[1:],
        lambda lines: [lines[0], lines[0], *lines[1:]],
    ],
)
def test_an_edited_ledger_stays_broken_for_ever(edit) -> None:
    lines = written(start(0), start(1), start(2)).splitlines(keepends=True)
    data = b"".join(edit(lines))
    before = read_chain(data)
    assert before.tail
    chain = read_chain(written(start(3), start(4), data=data))
    assert chain.tail == b""
    assert mends(chain) == (0, 1)
    assert names(chain)[-2:] == ["run-3", "run-4"]
    assert data in written(start(3), data=data)


def test_what_was_cut_off_cannot_be_changed_or_taken_out_afterwards() -> None:
    data = written(start(1), data=written(start(0)) + b'{"kind":"sta')
    assert mends(read_chain(data)) == (1, 0)
    assert read_chain(data.replace(b'{"kind":"sta\n', b"")).tail
    assert read_chain(data.replace(b'"sta\n', b'"stb\n')).tail


def test_a_mend_of_nothing_is_none() -> None:
    first = read_chain(written(start(0)))
    made_up = Mended(previous=first.head, at=AT, kind="torn", size=0, content=digest_of(b""))
    assert read_chain(written(made_up, data=written(start(0)))).tail


def test_an_unknown_line_is_none_of_the_chain() -> None:
    resumed = RunResumed(at=AT, run=digest_of(b"x"))
    data = written(start(0), resumed).replace(b'"resume"', b'"forget"')
    assert len(read_chain(data).entries) == 1
