"""The losslessness matrix: which streams there are to decode, what came of each, the file they are kept in, the table.

One JSON line a stream, appended as soon as it is compared, so that a matrix can be stopped at any time and taken up
again. No tensors here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from pydantic import ValidationError

from harness.base.errors import UsageError
from harness.checks.losslessness import Outcome
from reports.records.record import Count, Digest, Name, Record

NO_DRAFTS = "none"
"""The kind of draft of a block of one token: there is none to be good or bad."""


class Stream(Record):
    """One stream decoded by a block engine, and how it compares with the oracle's.

    `position` and `gap` say where a near tie or a divergence is, and by how many logits the verifier chose otherwise.
    """

    model: Name
    engine: Name
    drafts: Name
    block_size: Count
    prompt: Digest
    prompt_tokens: Count
    tokens: Count
    blocks: Count
    drafted: Count
    accepted: Count
    outcome: Outcome
    position: Count | None = None
    gap: float | None = None


@dataclass(frozen=True)
class Cell:
    """What is to be decoded for every prompt."""

    engine: str
    drafts: str
    block_size: int


def cells(engines: Iterable[str], drafts: Iterable[str], sizes: Iterable[int]) -> Iterator[Cell]:
    """All combinations; a block size of one makes one cell an engine, since nothing is drafted."""
    drafts = list(drafts)
    for size, engine in product(sorted(sizes), engines):
        for kind in drafts if size > 1 else [NO_DRAFTS]:
            yield Cell(engine, kind, size)


class Results:
    """The streams decoded so far, in a file."""

    def __init__(self, path: Path) -> None:
        """Read what is there.

        Raises:
            UsageError: a line is no stream; the last one may have been cut short by a stop and is then dropped.
        """
        self._path = path
        self.streams: list[Stream] = []
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        for number, line in enumerate(lines, start=1):
            if not line.endswith("\n"):
                path.write_text("".join(lines[:-1]))
                break
            try:
                self.streams.append(Stream.model_validate_json(line))
            except ValidationError as error:
                raise UsageError(f"{path}: line {number} is no result of this matrix; use another file") from error

    def has(self, model: str, cell: Cell, prompt: str, tokens: int) -> bool:
        """That stream was decoded already."""
        return any(
            (one.model, one.engine, one.drafts, one.block_size, one.prompt, one.tokens)
            == (model, cell.engine, cell.drafts, cell.block_size, prompt, tokens)
            for one in self.streams
        )

    def add(self, stream: Stream) -> None:
        """Keep one more."""
        self.streams.append(stream)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(stream.model_dump_json() + "\n")


def table(streams: Sequence[Stream]) -> str:
    """Markdown: a row for each model, engine and kind of draft, a column for each block size, what came of the streams.

    A cell says `3 exact`, and names every near tie and divergence with its place in the stream and the logit gap.
    """
    sizes = sorted({one.block_size for one in streams})
    lines = ["| model, engine, drafts | " + " | ".join(f"block {size}" for size in sizes) + " |"]
    lines.append("|---" * (len(sizes) + 1) + "|")
    for row in dict.fromkeys((one.model, one.engine, one.drafts) for one in sorted(streams, key=_row)):
        here = [one for one in streams if (one.model, one.engine, one.drafts) == row]
        found = (_cell([one for one in here if one.block_size == size]) for size in sizes)
        lines.append(f"| {', '.join(row)} | " + " | ".join(found) + " |")
    counts = {kind: sum(one.outcome == kind for one in streams) for kind in ("exact", "near_tie", "divergent")}
    prompts = sorted({one.prompt_tokens for one in streams})
    total = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in counts.items())
    return "\n".join([*lines, "", f"{len(streams)} streams, prompts of {', '.join(map(str, prompts))} tokens: {total}"])


def _row(one: Stream) -> tuple[str, str, str]:
    return one.model, one.engine, one.drafts


def _cell(streams: Sequence[Stream]) -> str:
    exact = sum(one.outcome == "exact" for one in streams)
    parts = [f"{exact} exact"] if exact else []
    for one in streams:
        if one.outcome != "exact":
            gap = "" if one.gap is None else f", gap {one.gap:.2g}"
            parts.append(f"{one.outcome.replace('_', ' ')} at {one.position}{gap} ({one.prompt_tokens} tokens)")
    return "; ".join(parts) or "-"
