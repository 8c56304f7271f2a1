"""Bytes of one cache: the same computation on the same prompt holds the same K/V."""

from collections.abc import Iterator

from gate.case import Case
from gate.registry import evidence_rule
from gate.rule import Finding


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
    seen: dict[tuple[object, ...], tuple[int, str]] = {}
    for arm in case.report.arms:
        for row in arm.measurements:
            held = row.kv_bytes_prefill
            if held is None or row.prompt_digest is None:
                continue
            here = f"{arm.name}, sample {row.sample}, repeat {row.repeat}"
            cache = (arm.engine, arm.restoration, arm.drafter, row.prompt_digest)
            first, where = seen.setdefault(cache, (held, here))
            if first != held:
                yield Finding(
                    f"{here}: {held} K/V bytes at the end of prefill, {first} in {where}",
                    arm=arm.name,
                    sample=row.sample,
                    field="kv_bytes_prefill",
                    found=str(held),
                    allowed=str(first),
                )
