"""Records that must be one and stand twice, and rows that were copied from others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, row_key
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from reports.records.codec_rows import KvQuantResult
    from reports.records.measurement import Arm, BlockRecord, Measurement


@evidence_rule(
    "DUPLICATE_RECORDS",
    title="Records that must be one stand twice",
    catches="Two arms, rows, prompts, runs, models, audited streams or claims of one name, several verifiers, "
    "several arms in a role that can be filled once (oracle, null, needle-free), or two arms under test of one "
    "configuration.",
    why="Which of two oracles is the baseline? The slower one, if the author may choose.",
    fix="Keep one record of each; give another configuration another name and role.",
    example=Example(bad="two rows of sample 3, repeat 0 in one arm", good="one row a sample and repeat"),
)
def duplicate_records(view: ReportView) -> Iterator[Finding]:
    """Something that identifies a record is not unique."""
    report = view.report
    for arm in report.arms:
        yield from _twice(f"rows of {arm.name}", "measurements", (row_key(row) for row in arm.measurements), arm.name)
    yield from _twice("arms", "arms", (arm.name for arm in report.arms))
    yield from _twice("claims", "claims", (claim.name for claim in report.claims))
    prompts = report.workload.prompts if report.workload is not None else ()
    yield from _twice("prompts", "workload.prompts", ((prompt.prompt_set, prompt.sample) for prompt in prompts))
    order = report.plan.order if report.plan is not None else None
    yield from _twice("runs", "plan.order", ((run.arm, run.sample, run.repeat, run.process) for run in order or ()))
    models = report.provenance.models if report.provenance is not None else ()
    packages = (report.provenance.packages or ()) if report.provenance is not None else ()
    yield from _twice("packages", "provenance.packages", (package.name for package in packages))
    yield from _twice("models", "provenance.models", ((model.role, model.weights or model.id) for model in models))
    for arm in report.arms:
        streams = arm.stream_audit.streams if arm.stream_audit is not None else ()
        keys = (row_key(stream) for stream in streams)
        yield from _twice(f"audited streams of {arm.name}", "stream_audit", keys, arm.name)
    codecs = report.kv_quant.arms if report.kv_quant is not None else ()
    yield from _twice("codecs", "kv_quant.arms", (codec.name for codec in codecs))
    for codec in codecs:
        yield from _twice(f"samples of {codec.name}", "kv_quant.arms", (row.sample for row in codec.samples))
    blocks = report.parity.blocks if report.parity is not None else ()
    yield from _twice("parity blocks", "parity.blocks", ((block.sample, block.block) for block in blocks))
    verifiers = [model for model in models if model.role == "verifier"]
    if len(verifiers) > 1 and not view.imported:  # other tools compare models in one file
        message = f"provenance.models: {len(verifiers)} verifiers ({', '.join(one.id for one in verifiers[:3])})"
        yield Finding(message, field="provenance.models", found=str(len(verifiers)), allowed="1")
    for role, members in (
        ("oracle", [arm for arm in report.arms if arm.role == "oracle"]),
        ("null", [arm for arm in report.arms if arm.role == "null"]),
        ("needle-free", [arm for arm in report.arms if arm.prompt_set == "needle_free"]),
    ):
        if len(members) > 1:
            names = ", ".join(arm.name for arm in members[:3])
            message = f"arms: {len(members)} of role {role} ({names})"
            yield Finding(message, members[1].name, None, "role", str(len(members)), "1")
    if not view.imported:
        yield from _same_twice(view.under_test)


def _same_twice(arms: Sequence[Arm]) -> Iterator[Finding]:
    """Of five equal arms one looks best; an arm measured again is a repeat. In another process it is another."""
    seen: list[tuple[object, str]] = []
    for arm in arms:
        kind = (arm.engine, arm.restoration, arm.drafter, arm.prompt_set, arm.served_by is None)
        other = next((name for known, name in seen if known == kind), None)
        seen.append((kind, arm.name))
        if other is not None:
            message = f"{arm.name}: the same engine, restoration, drafter and prompts as {other}"
            yield Finding(message, arm.name, None, "arms", arm.name, "a configuration of its own")


def _twice(what: str, field: str, keys: Iterable[object], arm: str | None = None) -> Iterator[Finding]:
    found = list(keys)
    if len(set(found)) == len(found):
        return
    repeated = [(key, count) for key, count in Counter(found).items() if count > 1]
    if repeated:
        key, count = repeated[0]
        message = f"{what}: {key} stands {count} times" + (f", {len(repeated) - 1} others too" if repeated[1:] else "")
        yield Finding(message, arm=arm, field=field, found=str(count), allowed="1")


LEAST_BLOCKS = Threshold(
    "LEAST_BLOCKS",
    10,
    "blocks",
    meaning="Of a row whose blocks are held to those of another.",
    source="a choice: so many ratios of two quiet runs are not one by chance",
)

LEAST_BLOCK_S = Threshold(
    "LEAST_BLOCK_S",
    0.001,
    "s",
    meaning="Of the blocks that are compared so.",
    source="they are written in microseconds, which blur the ratio of shorter ones",
)

LEAST_BLOCK_SPREAD = Threshold(
    "LEAST_BLOCK_SPREAD",
    0.0005,
    "relative distance",
    meaning="Between the ratios of the blocks of two rows, beside that of a microsecond each way.",
    source="their median is 0.009 at least between any two rows of one prompt in K3's own evidence",
)


@evidence_rule(
    "COPIED_ROWS",
    title="Rows that were copied from another",
    catches="Two rows, of one arm or of two, warm-ups and those set aside among them, with exactly the same prefill "
    "and decode seconds; two rows of which one has the block times of the other, or those times one factor; or two "
    "samples of a codec run with exactly the same layers of the plain model or of a codec.",
    why="An arm copied over another is a self-comparison, and a row copied into new repeats is a sample of one, also "
    "where it is made a little slower as a whole: every block of a machine has noise of its own.",
    fix="Measure every row.",
    example=Example(bad="two rows of 1.204873 s and 3.918236 s alike", good="rows whose times differ, as clocks do"),
    thresholds=(LEAST_BLOCKS, LEAST_BLOCK_S, LEAST_BLOCK_SPREAD),
)
def copied_rows(view: ReportView) -> Iterator[Finding]:
    """Two rows share their times to the last digit."""
    seen: dict[tuple[float, float], tuple[Arm, Measurement]] = {}
    for arm in view.report.arms:
        aside = (*(arm.warm_ups or ()), *(paused.row for paused in arm.paused or ()))
        for row in (*arm.measurements, *aside):
            if not row.prefill_s or not row.decode_s:
                continue
            first, other = seen.setdefault((row.prefill_s, row.decode_s), (arm, row))
            if other is not row:
                yield Finding(
                    f"{arm.name}, sample {row.sample}, repeat {row.repeat}: prefill {row.prefill_s} s and decode "
                    f"{row.decode_s} s are exactly those of {first.name}, sample {other.sample}, repeat {other.repeat}",
                    arm=arm.name,
                    sample=row.sample,
                    field="decode_s",
                    found=str(row.decode_s),
                    allowed="a time of its own",
                )
        if not view.imported:
            yield from _copied_blocks(arm)
    if view.report.kv_quant is not None and not view.imported:
        yield from _copied_samples(view.report.kv_quant)


def _copied_blocks(arm: Arm) -> Iterator[Finding]:
    """Each row against the one before it of the same prompt and as many blocks: their verification, block by block."""
    last: dict[tuple[int, int], tuple[Measurement, tuple[BlockRecord, ...]]] = {}
    for row in arm.measurements:
        rounds = row.speculation.rounds if row.speculation is not None else None
        if not rounds or len(rounds) < LEAST_BLOCKS.value:
            continue
        before = last.get((row.sample, len(rounds)))
        last[row.sample, len(rounds)] = row, rounds
        if before is not None and _one_factor(rounds, before[1]):
            other = before[0]
            yield Finding(
                f"{arm.name}, sample {row.sample}, process {row.process}, repeat {row.repeat}: its {len(rounds)} "
                f"blocks take those of process {other.process}, repeat {other.repeat}, by one factor",
                arm=arm.name,
                sample=row.sample,
                field="speculation.rounds",
                found="the times of another row",
                allowed="times of its own",
            )
            return


def _one_factor(ours: Sequence[BlockRecord], theirs: Sequence[BlockRecord]) -> bool:
    """All blocks were verified in the time of the other row's times the first one's ratio. Runs differ at once."""
    first = None
    for one, other in zip(ours, theirs, strict=True):
        if min(one.verify_s, other.verify_s) < LEAST_BLOCK_S.value:
            return False
        ratio = one.verify_s / other.verify_s
        first = ratio if first is None else first
        blur = (1 / one.verify_s + 1 / other.verify_s) / 1e6  # both are whole microseconds
        if abs(ratio / first - 1) > LEAST_BLOCK_SPREAD.value + blur:
            return False
    return True


def _copied_samples(result: KvQuantResult) -> Iterator[Finding]:
    """What a layer holds of one prompt it holds to the last digit of no other; a codec that loses nothing, of all."""
    held = [("oracle", row.sample, tuple((one.k, one.v) for one in row.energies)) for row in result.oracle]
    for arm in result.arms:
        held += [(arm.name, row.sample, tuple((one.k, one.v) for one in row.layers)) for row in arm.samples]
    seen: dict[tuple[str, tuple[tuple[float, float], ...]], int] = {}
    for name, sample, layers in held:
        if not any(value for pair in layers for value in pair):
            continue
        first = seen.setdefault((name, layers), sample)
        if first != sample:
            message = f"{name}: the layers of samples {first} and {sample} are the same to the last digit"
            yield Finding(message, name, sample, "kv_quant.layers", f"those of sample {first}", "layers of its own")
