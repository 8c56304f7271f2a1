"""Bytes of one cache: the same computation on the same prompt holds the same K/V."""

from collections.abc import Iterator

from gate.case import Case
from gate.registry import evidence_rule
from gate.rule import Finding
from reports.measurement import Measurement


@evidence_rule(
    "KV_BYTES_VARY",
    title="One cache of two sizes",
    catches="Rows of the same engine, restoration and prompt with different K/V bytes at the end of prefill: repeats "
    "of an arm, the oracle and the oracle again.",
    why="Bytes of arrays are not noisy; a baseline that holds more than itself makes any saving look larger.",
    fix="Sum the bytes of the arrays at the same point in every row.",
)
def kv_bytes_vary(case: Case) -> Iterator[Finding]:
    """The same prefill left another number of bytes."""
    kinds: list[tuple[object, ...]] = []
    seen: dict[tuple[int, str], tuple[int, str, Measurement]] = {}
    for arm in case.report.arms:
        kind = (arm.engine, arm.restoration, arm.drafter)
        if kind not in kinds:
            kinds.append(kind)
        number = kinds.index(kind)
        for row in arm.measurements:
            held = row.kv_bytes_prefill
            if held is None or row.prompt_digest is None:
                continue
            first, name, other = seen.setdefault((number, row.prompt_digest), (held, arm.name, row))
            if first != held:
                yield Finding(
                    f"{arm.name}, sample {row.sample}, repeat {row.repeat}: {held} K/V bytes at the end of prefill, "
                    f"{first} in {name}, sample {other.sample}, repeat {other.repeat}",
                    arm=arm.name,
                    sample=row.sample,
                    field="kv_bytes_prefill",
                    found=str(held),
                    allowed=str(first),
                )
