"""The chain in the bytes of a run ledger: pure, so that every place of a crash can be tried."""

from dataclasses import dataclass
from typing import Literal

from harness.base.clock import utc_now
from harness.runs.run_ledger.entries import AnyEntry, Mended, entry_of, line_of
from reports.records.record import Digest, digest_of

_MENDED = (b'"kind":"torn"', b'"kind":"broken"')


@dataclass(frozen=True)
class ChainedEntry:
    """An entry that follows on the one before it, and the digest of its line."""

    entry: AnyEntry
    digest: Digest


@dataclass(frozen=True)
class Chain:
    """The entries of a ledger in order; `tail` is what follows the last of them and is no part of the chain."""

    entries: tuple[ChainedEntry, ...] = ()
    tail: bytes = b""
    whole_lines: bool = True
    """The file ends with a newline, or is empty."""

    @property
    def head(self) -> Digest | None:
        """Digest of the last line."""
        return self.entries[-1].digest if self.entries else None

    def appended(self, entry: AnyEntry) -> tuple[bytes, Digest]:
        """The bytes that put `entry` at the end, and its digest. What a crash left there stays, and is told."""
        data, head = b"" if self.whole_lines else b"\n", self.head
        if self.tail:
            cut_off = self.tail + data
            mended = Mended(
                previous=head, at=utc_now(), kind=_what_happened(cut_off), size=len(cut_off), content=digest_of(cut_off)
            )
            line = line_of(mended)
            data, head = data + line + b"\n", digest_of(line)
        line = line_of(entry.replace(previous=head))
        return data + line + b"\n", digest_of(line)


def read_chain(data: bytes) -> Chain:
    """The chain in the bytes of a ledger. Only a line that names the digest of the one before it belongs to it; after
    what does not, only the line that tells of it. A last line whose newline alone is missing is whole."""
    entries: list[ChainedEntry] = []
    head: Digest | None = None
    place = 0
    while place < len(data):
        found = _line_at(data, place)
        entry = entry_of(found)
        if entry is None or entry.previous != head or isinstance(entry, Mended):
            place, found, entry = _mended_after(data, place, head)
            if entry is None:
                break
        head = digest_of(found)
        entries.append(ChainedEntry(entry, head))
        place += len(found) + 1
    return Chain(tuple(entries), data[place:], data.endswith(b"\n") or not data)


def _line_at(data: bytes, place: int) -> bytes:
    end = data.find(b"\n", place)
    return data[place:] if end < 0 else data[place:end]


def _mended_after(data: bytes, place: int, head: Digest | None) -> tuple[int, bytes, Mended | None]:
    """The line after `place` that tells of exactly what stands between; with none, `place` itself."""
    start = place
    while (start := data.find(b"\n", start) + 1) and start < len(data):
        line = _line_at(data, start)
        entry = entry_of(line) if any(word in line for word in _MENDED) else None
        if not isinstance(entry, Mended) or (entry.previous, entry.size) != (head, start - place):
            continue
        if entry.content == digest_of(data[place:start]):
            return start, line, entry
    return place, b"", None


def _what_happened(cut_off: bytes) -> Literal["torn", "broken"]:
    """Whole entries among them were written and told to be on disk: no crash takes those out of the chain."""
    whole = any(entry_of(line) is not None for line in cut_off.split(b"\n"))
    return "broken" if whole else "torn"
