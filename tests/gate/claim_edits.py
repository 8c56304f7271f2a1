"""Reports and edits for the rules about speed-ups, recall, memory, parity and codecs: what makes a good report bad."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from reports.records.claims import MemoryClaim, RecallClaim
from reports.records.kv_memory import ArmMemory
from reports.records.measurement import Measurement, Mismatch
from reports.report import Report
from tests.gate.case_files import drafting, dropped
from tests.gate.edits import edit_arm, edit_rows, set_plan, set_rows
from tests.gate.honest import Setup, measured_kv_quant, measured_niah, measured_parity

SPEED = "decode_speedup/native"
RECALL = "restoration_recall/identity"
IDENTITY = "identity"
NGRAM = "fused_ngram"


# --- reports


def niah() -> Report:
    """Five samples, once: enough for recall beside a control."""
    return measured_niah(Setup(samples=5, repeats=1))


@cache
def f_theta() -> Report:
    """A projecting arm that holds sink + window only."""
    return measured_niah(Setup(samples=2, repeats=1, suts=("f_theta",)))


def kv_quant() -> Report:
    """Five codecs over two samples."""
    return measured_kv_quant(Setup(samples=2))


def parity() -> Report:
    """Two runtimes over three samples."""
    return measured_parity(Setup(samples=3))


# --- edits


def scale(
    report: Report,
    name: str,
    *,
    prefill: float = 1.0,
    decode: float = 1.0,
    where: Callable[[Measurement], bool] | None = None,
) -> Report:
    """Times of an arm's rows multiplied, the end-to-end time with them."""

    def edit(row: Measurement) -> Measurement:
        assert row.prefill_s is not None
        assert row.decode_s is not None
        assert row.e2e_s is not None
        longer = row.prefill_s * (prefill - 1) + row.decode_s * (decode - 1)
        return row.replace(prefill_s=row.prefill_s * prefill, decode_s=row.decode_s * decode, e2e_s=row.e2e_s + longer)

    return edit_rows(report, name, edit, where=where)


def is_first_run(row: Measurement) -> bool:
    """Sample 0, repeat 0."""
    return (row.sample, row.repeat) == (0, 0)


def noisy_null(report: Report) -> Report:
    for sample, factor in enumerate((0.8, 0.9, 1.0, 1.1, 1.25)):
        report = scale(report, "oracle_again", decode=factor, where=lambda row, sample=sample: row.sample == sample)
    return report


def order_decides(report: Report) -> Report:
    """Whoever runs second finds the machine slow."""
    oracle = next(arm for arm in report.arms if arm.name == "oracle")
    places = {(row.sample, row.repeat): row.order or 0 for row in oracle.measurements}
    return scale(report, "native", decode=1.2, where=lambda row: (row.order or 0) > places[row.sample, row.repeat])


def cold_start(report: Report) -> Report:
    return set_plan(scale(report, "oracle", decode=2.0, where=is_first_run), warmups=())


@cache
def approximating() -> Report:
    """The arm that drafts from the text, over a cache that f_theta restores; it says what the oracle says."""
    donor = f_theta()

    def restored(row: Measurement) -> Measurement:
        moved, seconds = dropped(row), 0.02
        return row.replace(
            restoration_active=True,
            restored_positions=moved,
            evicted_positions=moved,
            restoration_s=seconds,
            e2e_s=(row.e2e_s or 0.0) + seconds,
        )

    restoration = next(arm.restoration for arm in donor.arms if arm.name == "f_theta")
    report = edit_arm(edit_rows(drafting(), NGRAM, restored), NGRAM, lambda arm: arm.replace(restoration=restoration))
    return report.replace(provenance=donor.provenance)


def astray(report: Report) -> Report:
    """The arm emits another token once, in every repeat of a prompt."""
    arm = next(arm for arm in report.arms if arm.name == NGRAM)
    said = next(row.token_ids for row in arm.measurements if row.sample == 0) or ()
    miss = Mismatch(position=9, emitted=said[9] + 1, argmax=said[9], gap=2.5)
    report = edit_rows(
        report,
        NGRAM,
        lambda row: row.replace(token_ids=(*said[:9], miss.emitted, *said[10:])),
        where=lambda row: row.sample == 0,
    )
    return edit_arm(
        report,
        NGRAM,
        lambda arm: arm.replace(
            stream_audit=arm.stream_audit.replace(
                streams=tuple(
                    stream.replace(mismatches=(miss,)) if stream.sample == 0 else stream
                    for stream in arm.stream_audit.streams
                )
            )
        ),
    )


def other_loop(report: Report) -> Report:
    for name in ("oracle", "oracle_again"):
        report = set_rows(report, name, decode_loop="plain_step")
        report = edit_arm(report, name, lambda arm: arm.replace(decode_loop="plain_step"))
    return report


def same_loop(report: Report) -> Report:
    report = set_rows(report, "native", decode_loop="generate_step")
    return edit_arm(report, "native", lambda arm: arm.replace(engine="ar", decode_loop="generate_step"))


def without_claim(report: Report, claim: str) -> Report:
    return report.replace(claims=tuple(one for one in report.claims if one.name != claim))


def say(report: Report, name: str, source: str, samples: Sequence[int]) -> Report:
    """Let arm `name` say in these samples what arm `source` said, with the same score."""
    said = {row.sample: row for row in next(arm for arm in report.arms if arm.name == source).measurements}

    def edit(row: Measurement) -> Measurement:
        theirs = said[row.sample]
        assert row.decode_s is not None
        assert row.e2e_s is not None
        assert row.decode_tokens is not None
        assert theirs.decode_tokens is not None
        longer = row.decode_s * (theirs.decode_tokens / row.decode_tokens - 1)
        return row.replace(
            token_ids=theirs.token_ids,
            text=theirs.text,
            correct=theirs.correct,
            decode_tokens=theirs.decode_tokens,
            decode_s=row.decode_s + longer,
            e2e_s=row.e2e_s + longer,
        )

    def audited(arm: Any) -> Any:
        rows = {(row.sample, row.repeat): row for row in arm.measurements}
        streams = tuple(
            stream.replace(tokens_checked=len(rows[stream.sample, stream.repeat].token_ids), mismatches=())
            for stream in arm.stream_audit.streams
        )
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    report = edit_rows(report, name, edit, where=lambda row: row.sample in samples)
    return edit_arm(report, name, audited)


def hush(report: Report) -> Report:
    """The control's audit has seen nothing, as if its stream were the verifier's own."""

    def edit(arm: Any) -> Any:
        first = arm.stream_audit.streams[0].replace(mismatches=())
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=(first, *arm.stream_audit.streams[1:])))

    return edit_arm(report, "ablate", edit)


def forgetful(report: Report) -> Report:
    """The verifier itself recalls nothing."""
    for name in ("oracle", "oracle_again", "native"):
        report = say(report, name, "ablate", (0, 1))
    return report


def renamed(report: Report) -> Report:
    """The baseline's recall, claimed as an arm's."""
    claims = tuple(
        RecallClaim.model_validate(
            claim.model_dump() | {"name": "arm_recall/native", "metric": "arm_recall", "status": "claimed"}
        )
        if claim.name == "native_baseline_recall/native"
        else claim
        for claim in report.claims
    )
    return report.replace(claims=claims, gate=None)


def analytic(report: Report) -> Report:
    """The saving claimed by formula."""
    assert report.memory is not None
    table = next(table for table in report.memory.arms if table.arm == "f_theta")
    claims = tuple(
        claim.replace(basis="analytic", value=1 - table.total_bytes / table.full_kv_bytes, status="claimed")
        if isinstance(claim, MemoryClaim)
        else claim
        for claim in report.claims
    )
    return report.replace(claims=claims, gate=None)


def deny_formula(report: Report) -> Report:
    assert report.memory is not None
    tables = tuple(table.replace(formula_matches_run=False) for table in report.memory.arms)
    return report.replace(memory=report.memory.replace(arms=tables))


def wider_formula(report: Report) -> Report:
    """A table of 76 positions a layer, where the run held 68."""

    def edit(table: ArmMemory) -> ArmMemory:
        layers = tuple(
            layer.replace(resident_positions=76, resident_bytes=76 * layer.bytes_per_token) for layer in table.layers
        )
        total = sum(layer.resident_bytes for layer in layers)
        return table.replace(layers=layers, total_bytes=total, formula_matches_run=False)

    assert report.memory is not None
    tables = tuple(edit(table) if table.arm == "f_theta" else table for table in report.memory.arms)
    return report.replace(memory=report.memory.replace(arms=tables))


def disagree(report: Report) -> Report:
    assert report.parity is not None
    first = report.parity.blocks[0]
    wrong = first.replace(candidate_tokens=(*first.candidate_tokens[:-1], 7))
    return report.replace(parity=report.parity.replace(blocks=(wrong, *report.parity.blocks[1:])))


def edit_codec(report: Report, name: str, edit: Callable[[Any], Any]) -> Report:
    assert report.kv_quant is not None
    arms = tuple(edit(arm) if arm.name == name else arm for arm in report.kv_quant.arms)
    return report.replace(kv_quant=report.kv_quant.replace(arms=arms))


def with_errors(row: Any, **errors: float) -> Any:
    """A codec's row whose layers all err by `k` or `v`, and so does the whole."""
    layers = tuple(layer.replace(**errors) for layer in row.layers)
    return row.replace(layers=layers, **{f"relative_error_{side}": value for side, value in errors.items()})


def errs(report: Report, name: str, **errors: float) -> Report:
    return edit_codec(
        report, name, lambda arm: arm.replace(samples=tuple(with_errors(row, **errors) for row in arm.samples))
    )


def halved_error(report: Report) -> Report:
    """The figure halved, its layers left as they are."""

    def edit(arm: Any) -> Any:
        first = arm.samples[0]
        return arm.replace(samples=(first.replace(relative_error_k=first.relative_error_k / 2), *arm.samples[1:]))

    return edit_codec(report, "lattice_d4", edit)


def flip_verdict(report: Report) -> Report:
    assert report.kv_quant is not None
    verdicts = tuple(
        one.replace(worthwhile=True) if one.arm == "lattice_d4" else one for one in report.kv_quant.verdicts
    )
    return report.replace(kv_quant=report.kv_quant.replace(verdicts=verdicts))
