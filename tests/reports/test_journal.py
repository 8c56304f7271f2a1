"""The form of a journal: what was written whole is read again, whatever became of the rest."""

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import journal
from reports.journal import (
    Audited,
    Begun,
    End,
    Entry,
    JournalError,
    Lines,
    MeasuredRow,
    MeasuredSample,
    Read,
    Resumed,
    decode,
    encode,
)
from reports.records.measurement import Arm, AuditedStream, Measurement, Pause
from reports.records.plan import Resume
from reports.records.provenance import MachineReading
from reports.report import Report
from tests.gate.honest import Setup, honest_kv_quant

REPORT = Report(kind="niah", report_id="x", arms=(Arm(name="one", role="sut", engine="ar", measurements=()),))
RESUME = Resume.model_validate_json('{"order": 1, "at": "2026-01-02T03:04:05Z"}')


def entries() -> list[Entry]:
    """One of every kind, with texts that need escaping."""
    result = honest_kv_quant(Setup(samples=1, repeats=1)).kv_quant
    assert result is not None
    row = Measurement(sample=0, repeat=0, order=0, text='a "line"\n\u2028 and another', token_ids=(1, 2), decode_s=0.1)
    return [
        Begun(report=REPORT),
        MeasuredRow(arm="one", row=Measurement(sample=0, repeat=0, token_ids=(1,)), warm_up=True),
        MeasuredRow(arm="one", row=row, pause=Pause(asleep_s=3.5, stops=0)),
        MeasuredRow(arm="one", row=row),
        Resumed(resume=RESUME),
        MeasuredSample(oracle=result.oracle[0], codecs=()),
        Read(reading=MachineReading(process=0, moment="after", at=RESUME.at, load=0.5, others=0.03, celsius=51.5)),
        Audited(arm="one", stream=AuditedStream(sample=0, repeat=0, tokens_checked=2, mismatches=())),
    ]


def written(lines: list[Entry]) -> bytes:
    data, end = b"", End()
    for entry in lines:
        line, end = encode(entry, end)
        data += line
    return data


def read(data: bytes) -> Lines | JournalError:
    try:
        return decode(data)
    except JournalError as error:
        return error


WHOLE = entries()
DATA = written(WHOLE)
FIRST = DATA.index(b"\n") + 1


def test_what_is_written_is_read_again() -> None:
    lines = decode(DATA)
    assert (lines.report, list(lines.entries)) == (REPORT, WHOLE[1:])
    assert (lines.end.lines, lines.end.size) == (len(WHOLE), len(DATA))
    more, _ = encode(WHOLE[2], lines.end)
    assert decode(DATA + more).entries == (*WHOLE[1:], WHOLE[2])


def test_every_line_is_one_json_object() -> None:
    kinds = [json.loads(line)["line"] for line in DATA.splitlines()]
    assert kinds == ["run", "row", "row", "row", "resume", "sample", "machine", "audit"]


@given(st.integers(0, len(DATA)))
def test_cut_at_any_byte_every_whole_line_is_kept(cut: int) -> None:
    whole = DATA[:cut].count(b"\n")
    if not whole:
        with pytest.raises(JournalError, match="line 1: "):
            decode(DATA[:cut])
        return
    lines = decode(DATA[:cut])
    assert list(lines.entries) == WHOLE[1:whole]
    assert written(WHOLE[:whole]) == DATA[: lines.end.size]


@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
def test_with_any_byte_changed_nothing_is_read_that_was_not_written(place: int, change: int) -> None:
    data = bytearray(DATA)
    data[place] ^= change
    found = read(bytes(data))
    if isinstance(found, JournalError):
        assert str(found).isprintable()
        assert found.line <= DATA[:place].count(b"\n") + 1
    else:
        assert (found.report, list(found.entries)) == (REPORT, WHOLE[1 : len(found.entries) + 1])


@given(st.binary(max_size=200), st.integers(0, len(WHOLE)))
def test_strange_bytes_are_one_line_of_message(strange: bytes, kept: int) -> None:
    data = written(WHOLE[:kept]) + strange + b"\n"
    with pytest.raises(JournalError) as caught:
        decode(data)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("lines", [[1, 0], [0, 0], [0, 2, 1], [0, 1, 1], [0, 2]])
def test_lines_moved_doubled_or_left_out_are_noticed(lines: list[int]) -> None:
    own = DATA.splitlines(keepends=True)
    with pytest.raises(JournalError):
        decode(b"".join(own[number] for number in lines))


def checked(body: bytes, checksum: int = 0) -> bytes:
    """A line with the right checksum, as whoever edits a journal can make one."""
    return b'{"crc":"%08x",%b\n' % (zlib.crc32(body, checksum), body[1:])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"line":"row","arm":"one","row":{"sample":0,"repeat":0}}', "begins with its run"),
        (b'{"line":"run","report":{"kind":"niah"}}', "report_id"),
        (b'{"line":"walk"}', "walk"),
        (b'{"report":{}}', "line"),
        (b'{"line":"run","line":"run"}', "stands twice"),
        (b'{"line":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested deeper"),
        (b'{"line":"row","arm":"one","row":{"sample":0,"repeat":0,"decode_s":NaN}}', "NaN"),
        (b'{"line":[' + b"[]," * 2_000_001 + b"[]]}", "values; 2000000 are the most"),
        (b'{"line":"\xff"}', "UTF-8"),
        (b'{"line":"run"', "JSON"),
    ],
)
def test_what_an_editor_could_make_is_refused_in_one_line(body: bytes, said: str) -> None:
    with pytest.raises(JournalError, match=said) as caught:
        decode(checked(body))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("bound", "most", "said"),
    [
        ("LONGEST_LINE", 300, "line 3: a line of 3[0-9]+ bytes; 300 are the most"),
        ("MOST_LINES", 2, "line 3: 3 lines; 2 are the most"),
        ("MAX_BYTES", 500, "line 3: [0-9]+ bytes; 500 are the most"),
        ("MAX_VALUES", 30, "line 3: [0-9]+ values; 30 are the most"),
    ],
)
def test_a_journal_is_bounded_for_who_writes_it_and_for_who_reads_it(
    monkeypatch: pytest.MonkeyPatch, bound: str, most: int, said: str
) -> None:
    lines = [WHOLE[0], WHOLE[1], MeasuredRow(arm="one", row=Measurement(sample=0, repeat=0, text="x" * 300))]
    data = written(lines)
    monkeypatch.setattr(journal, bound, most)
    with pytest.raises(JournalError, match=said):
        written(lines)
    with pytest.raises(JournalError, match=said):
        decode(data)
    assert len(decode(written(lines[:2])).entries) == 1
