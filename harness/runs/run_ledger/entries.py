"""The lines of the run ledger: digests, times, the preset's name, and where a report was written. No prompt, no person.

The ledger stays on its machine; a report tells of its lines no more than digests, times and outcomes.
"""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from reports.records.record import Count, Digest, Name, Record


class Entry(Record):
    """A line; `previous` is the digest of the one before it, newline left out, and none in the first."""

    previous: Digest | None = None
    at: AwareDatetime


class RunStarted(Entry):
    """A run begins; the digest of this line is its name from here on."""

    kind: Literal["start"] = "start"
    preset: Name
    plan: Digest = Field(description="Of the preset after overrides")
    family: Digest = Field(description="The same without seed, samples, repeats, processes and name")
    place: Digest = Field(description="Of the path that its report goes to, to know it again when it is resumed")


class RunResumed(Entry):
    """An interrupted run goes on: it is one run."""

    kind: Literal["resume"] = "resume"
    run: Digest


class RunEnded(Entry):
    """How a run ended; of several such lines of one run the last one counts."""

    kind: Literal["end"] = "end"
    run: Digest
    how: Literal["report", "interrupted", "failed"]
    report: Digest | None = Field(None, description="Content digest of its report")
    plan: Digest | None = Field(None, description="As in the report: of preset, weights and prompts")
    family: Digest | None = Field(None, description="As of the start, and of the weights of all models")
    code: Digest | None = Field(None, description="Of what the report says of the code that ran")
    agreed: bool | None = Field(None, description="Of a parity run: both runtimes proposed the same everywhere")
    written: str | None = Field(None, description="Where its report was written, as a file: address")


class Mended(Entry):
    """What stood between the line `previous` and this one is no part of the chain, and stays where it is.

    `torn`: a writer was killed within a line. `broken`: whole lines do not follow on the one before them, since
    somebody changed or removed one.
    """

    kind: Literal["torn", "broken"]
    size: Count = Field(description="Bytes between the two lines, the last newline included")
    content: Digest = Field(description="Of those bytes")


AnyEntry = RunStarted | RunResumed | RunEnded | Mended
_LINE: TypeAdapter[AnyEntry] = TypeAdapter(Annotated[AnyEntry, Field(discriminator="kind")])


def line_of(entry: AnyEntry) -> bytes:
    """The entry as it stands in the file, without the newline."""
    return entry.model_dump_json(exclude_none=True).encode()


def entry_of(line: bytes) -> AnyEntry | None:
    """The entry in a line; none if there is none."""
    try:
        return _LINE.validate_json(line)
    except ValidationError:
        return None
