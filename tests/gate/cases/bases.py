"""The honest runs that the cases of the rules are made from, as measured."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cache
from importlib import resources
from typing import Any, Literal

from gate.claims.looks import look_after
from gate.judging.judge import conclude
from gate.rules.provenance.dates import FORM_SINCE
from reports.known_models import KNOWN_WEIGHTS
from reports.records.measurement import Arm, Measurement, Restoration
from reports.records.plan import PresetInfo, Stopping, StopRules
from reports.records.provenance import MachineReading, RunLedger
from reports.records.record import digest_of
from reports.report import Report
from tests.gate.edits import asserted, dated, edit_arm, edit_rows, knowing_text, set_plan, set_verifier
from tests.gate.honest import LAYERS, SINK, WINDOW, Setup, measured_code, measured_kv_quant, measured_niah
from tests.gate.honest import measured_parity as measured_ports
from tests.gate.honest.kv_memory import kv_bytes

IDENTITY = "identity"
NGRAM = "fused_ngram"


@cache
def niah() -> Report:
    """Two needles, once: oracle twice, identity, ablate, needle-free."""
    return measured_niah(Setup(samples=2, repeats=1, max_new_tokens=12))


@cache
def niah_of_five() -> Report:
    """Five needles, once: enough for recall beside a control."""
    return measured_niah(Setup(samples=5, repeats=1))


@cache
def projecting() -> Report:
    """Ten needles, found from K/V that f_theta makes."""
    return measured_niah(Setup(samples=10, repeats=1, suts=("f_theta",)))


@cache
def of_a_shipped_preset() -> Report:
    """Five needles from a preset that ships, with overrides for all that is otherwise."""
    report = knowing_text(measured_niah(Setup(samples=5, repeats=1)), ("synthetic/notes",), {})
    assert report.plan is not None
    made = resources.files("presets").joinpath("recall-smollm2.toml").read_bytes()
    overrides = ("seed=0", "max_new_tokens=48", "processes=1")
    preset = PresetInfo(name="recall-smollm2", digest=digest_of(made), overrides=overrides)
    return report.replace(preset=preset, report_id=report.report_id.replace("niah", preset.name))


@cache
def f_theta() -> Report:
    """A projecting arm that holds sink + window only."""
    return measured_niah(Setup(samples=2, repeats=1, suts=("f_theta",)))


@cache
def native_baseline() -> Report:
    """A needle report whose system under test is a loop over the native cache, labelled as one."""
    return measured_niah(Setup(samples=5, repeats=1, suts=("native",)))


@cache
def code() -> Report:
    """Throughput of an arm that drafts from the text, over two prompts."""
    return measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))


@cache
def repeated() -> Report:
    """The same, each prompt twice."""
    return measured_code(Setup(samples=2, repeats=2, max_new_tokens=12, draft_arms=("ngram",)))


@cache
def code_of_five() -> Report:
    """The same over as many prompts as a claim about streams needs."""
    return measured_code(Setup(samples=5, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))


@cache
def dflash() -> Report:
    """Throughput of an arm with a model drafter, and the drafter's parity."""
    return measured_code(Setup(samples=5, repeats=1, max_new_tokens=12, draft_arms=("dflash",)))


@cache
def several() -> Report:
    """Six rows an arm, of plain arms."""
    return measured_code(Setup(samples=3, repeats=2, max_new_tokens=12, draft_arms=("native",)))


@cache
def long_streams() -> Report:
    """Two prompts, streams of 36 tokens, plain arms."""
    return measured_code(Setup(samples=2, repeats=1, max_new_tokens=36, draft_arms=("native",)))


FULL = Setup(samples=6, repeats=3, max_new_tokens=34, draft_arms=("native",))


@cache
def throughput() -> Report:
    """A speed-up that stands: 6 prompts in 3 repeats, a native loop that is slower than the oracle.

    It may stop at the end of a turn and never does.
    """
    return set_plan(measured_code(FULL), stop=StopRules(eos=True, ignore_turn_stop=False))


def resized(**changes: Any) -> Callable[[Report], Report]:
    """An edit of a run made with `FULL`: the same run of another size, its name, texts and bytes as they were."""

    def kept(row: Measurement, was: Measurement) -> Measurement:
        return row.replace(text=was.text, kv_bytes_decode=was.kv_bytes_decode, peak_bytes=was.peak_bytes)

    def edit(report: Report) -> Report:
        other = measured_code(replace(FULL, **changes))
        assert report.plan is not None
        for arm in report.arms:
            rows = {(row.sample, row.repeat): row for row in arm.measurements}
            other = edit_rows(other, arm.name, lambda row, rows=rows: kept(row, rows[row.sample, row.repeat]))
        named = set_plan(other, digest=report.plan.digest, stop=report.plan.stop)
        return named.replace(report_id=report.report_id)

    return edit


def looked_at(report: Report, stopping: Stopping) -> Report:
    """`report` as a run that was looked at after each of its processes that the plan says."""
    assert report.plan is not None
    due = [one for one in stopping.planned if one <= (report.plan.processes or 1)]
    looks = tuple(look_after(report, stopping, processes) for processes in due)
    return set_plan(report, stopping=stopping.replace(looks=looks))


@cache
def looked() -> Report:
    """Two processes: after the first the interval was not narrow, and no third was planned."""
    report = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("native",), processes=2))
    return looked_at(report, Stopping(width=0.001, first=1, most=2))


@cache
def watched() -> Report:
    """Two processes, the machine read before and after each."""
    report = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("native",), processes=2))
    assert report.created_at is not None
    moments: tuple[Literal["before", "after"], ...] = ("before", "after")
    readings = [
        MachineReading(process=process, moment=moment, at=report.created_at + timedelta(minutes=2 * process + later))
        for process in range(2)
        for later, moment in enumerate(moments)
    ]
    return report.replace(machine=tuple(readings))


@cache
def warmed() -> Report:
    """The same, with warm-ups as rows and clocks to the nanosecond, as runs have them since there were readings."""
    report = knowing_text(watched(), ("own/first", "own/second"), {})

    def warm(arm: Arm) -> Arm:
        rows = tuple(_to_nanoseconds(row, number) for number, row in enumerate(arm.measurements))
        first = {row.process: row for row in reversed(rows)}
        warm_ups = tuple(_to_nanoseconds(row.replace(order=None), 900 + row.process) for row in first.values())
        return arm.replace(measurements=rows, warm_ups=warm_ups)

    return set_plan(report.replace(arms=tuple(map(warm, report.arms))), warmups=None)


def _to_nanoseconds(row: Measurement, number: int) -> Measurement:
    """The row a few nanoseconds longer, so that no time is a whole microsecond."""
    prefill, decode, whole = (row.prefill_s or 0.0, row.decode_s or 0.0, row.e2e_s or 0.0)
    return row.replace(
        prefill_s=round(prefill + 1e-9 * (1 + number), 9),
        decode_s=round(decode + 1e-9 * (1 + number), 9),
        e2e_s=round(whole + 2e-9 * (1 + number), 9),
    )


@cache
def of_december() -> Report:
    """The same, made when every run is in the form that `FORM_OF_OLD` asks for."""
    report = warmed()
    assert report.created_at is not None
    later = FORM_SINCE - report.created_at
    readings = tuple(one.replace(at=one.at + later) for one in report.machine or ())
    return dated(report.replace(machine=readings, run_ledger=RunLedger(state="opted_out")), FORM_SINCE)


@cache
def of_known_weights() -> Report:
    """Two needles, found by a verifier that K3 knows."""
    return set_verifier(niah(), weights=next(one for one, name in KNOWN_WEIGHTS.items() if name == "smollm2-135m"))


@cache
def drafting() -> Report:
    """An arm that drafts from the text, nearly always rightly: few blocks, a speed-up of 2."""
    arms = ("ngram",)
    return measured_code(Setup(max_new_tokens=34, draft_arms=arms, ngram_speedup=2.0, acceptance=0.97, ngram_share=1.0))


@cache
def approximating() -> Report:
    """The same over a cache that f_theta restores; it says what the oracle says."""
    donor = f_theta()
    bounded = mode_of(donor)

    def restored(row: Measurement) -> Measurement:
        moved, seconds = dropped(row), 0.02
        return row.replace(
            restoration_active=True,
            restored_positions=moved,
            evicted_positions=moved,
            restoration_s=seconds,
            kv_bytes_prefill=kv_bytes(bounded, row.prompt_tokens or 0),
            kv_bytes_decode=kv_bytes(bounded, row.prompt_tokens or 0),
            e2e_s=(row.e2e_s or 0.0) + seconds,
        )

    report = edit_arm(edit_rows(drafting(), NGRAM, restored), NGRAM, lambda arm: arm.replace(restoration=bounded))
    return report.replace(provenance=donor.provenance)


@cache
def kv_quant() -> Report:
    """Five codecs over ten samples."""
    return measured_kv_quant(Setup(samples=10))


@cache
def parity() -> Report:
    """Two runtimes over three samples."""
    return measured_ports(Setup(samples=3))


def judged(build: Report, *claims: str) -> Report:
    """The report as its author publishes it: judged, and with these claims made."""
    return asserted(conclude(build), *claims)


def dropped(row: Measurement) -> int:
    """(layer, position) pairs outside sink + window."""
    return LAYERS * ((row.prompt_tokens or 0) - SINK - WINDOW)


def mode_of(report: Report) -> Restoration:
    """How the arm under test of a needle report treats what it evicts."""
    found = next(arm.restoration for arm in report.arms if arm.role == "sut")
    assert found is not None
    return found
