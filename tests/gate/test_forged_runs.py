"""Committed runs forged as a whole: prompts, times, machine and models told otherwise, and all that follows from it."""

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gate.judging.judge import conclude, judge
from reports.records.measurement import Arm, Measurement
from reports.records.plan import Resume, prompts_digest
from reports.records.provenance import MachineReading, ModelInfo
from reports.report import Report, load_report
from reports.schedule import ScheduledArm, schedule
from tests.gate.doctoring.codec_edits import scaled, with_samples
from tests.gate.doctoring.reshape import paced
from tests.gate.edits import edit_arm, edit_rows, scale, set_plan

EVIDENCE = Path(__file__).parents[2] / "reports" / "evidence"
CODE, STDLIB, CODECS, PARITY = "code-dflash-tiny", "code-stdlib-smollm2", "kvquant-smollm2", "parity-tiny-dflash"
NGRAM, PORT = "decode_speedup/fused_ngram", "drafter_parity/mlx"


def only(samples: Sequence[int]) -> Callable[[Report], Report]:
    """The other prompts go, as if `--set samples=` had asked for so few; those that stay are numbered anew."""
    place = {old: new for new, old in enumerate(samples)}

    def kept(arm: Arm) -> Arm:
        assert arm.stream_audit is not None
        streams = tuple(
            one.replace(sample=place[one.sample]) for one in arm.stream_audit.streams if one.sample in place
        )
        return arm.replace(
            measurements=tuple(_moved(arm.measurements, place)),
            warm_ups=tuple(_moved(arm.warm_ups or (), place)),
            stream_audit=arm.stream_audit.replace(streams=streams),
        )

    def edit(report: Report) -> Report:
        assert report.plan is not None
        assert report.workload is not None
        assert report.preset is not None
        assert report.provenance is not None
        arms = tuple(map(kept, report.arms))
        names = [ScheduledArm(arm.name, 1) for arm in arms]
        seed = report.plan.order_seed or 0
        order = tuple(
            run
            for process in range(3)
            for run in schedule(names, samples=len(samples), repeats=1, process=process, seed=seed)
        )
        places = {(run.arm, run.sample, run.process): at for at, run in enumerate(order)}
        arms = tuple(
            arm.replace(
                measurements=tuple(
                    row.replace(order=places[arm.name, row.sample, row.process]) for row in arm.measurements
                )
            )
            for arm in arms
        )
        prompts = tuple(one.replace(sample=place[one.sample]) for one in report.workload.prompts if one.sample in place)
        asked = f"samples={len(samples)}"
        return report.replace(
            arms=arms,
            plan=report.plan.replace(samples=len(samples), order=order),
            workload=report.workload.replace(prompts=prompts, digest=prompts_digest(prompts)),
            preset=report.preset.replace(overrides=(asked,)),
            provenance=report.provenance.replace(argv=(*(report.provenance.argv or ()), "--set", asked)),
        )

    return edit


def _moved(rows: Sequence[Measurement], place: Mapping[int, int]) -> list[Measurement]:
    return [row.replace(sample=place[row.sample]) for row in rows if row.sample in place]


def readings(edit: Callable[[MachineReading], MachineReading]) -> Callable[[Report], Report]:
    return lambda report: report.replace(machine=tuple(map(edit, report.machine or ())))


def later_after(reading: MachineReading) -> MachineReading:
    """The reading after each process is put off, so that a slower arm has time; the next one begins before it."""
    return reading.replace(at=reading.at + timedelta(seconds=20)) if reading.moment == "after" else reading


def begun(report: Report) -> Report:
    """The run ledger is said to have been begun after the run."""
    assert report.run_ledger is not None
    assert report.created_at is not None
    return report.replace(run_ledger=report.run_ledger.replace(begun_at=report.created_at + timedelta(days=3)))


def resumed(report: Report) -> Report:
    assert report.created_at is not None
    return set_plan(report, resumes=(Resume(order=72, at=report.created_at + timedelta(days=30)),))


def slow_oracle(report: Report) -> Report:
    """The oracle and its repeat are 1.05 times as slow, to all digits of a float."""
    return scale(scale(report, "oracle", decode=1.05), "oracle_again", decode=1.05)


def repeated(report: Report) -> Report:
    """The rows of the second and third process are those of the first, each a little slower or faster as a whole."""
    rng = random.Random(2)
    for arm in report.arms:
        first = {row.sample: row for row in arm.measurements if row.process == 0}

        def edit(row: Measurement, first: dict[int, Measurement] = first) -> Measurement:
            by = [rng.lognormvariate(0, 0.004) for _ in range(2)]
            return paced(first[row.sample], *by).replace(process=row.process, order=row.order)

        report = edit_rows(report, arm.name, edit, where=lambda row: row.process > 0)
    return report


def models(edit: Callable[[ModelInfo], ModelInfo]) -> Callable[[Report], Report]:
    def edited(report: Report) -> Report:
        assert report.provenance is not None
        return report.replace(provenance=report.provenance.replace(models=tuple(map(edit, report.provenance.models))))

    return edited


def of_smollm2(model: ModelInfo) -> ModelInfo:
    """The verifier of another report stands for this one's."""
    provenance = load_report(EVIDENCE / "code-dflash-smollm2.json").provenance
    assert provenance is not None
    return provenance.models[0] if model.role == "verifier" else model


def provenance(**changes: Any) -> Callable[[Report], Report]:
    """Fields of the provenance set; `host` and `versions` by their parts."""

    def edit(report: Report) -> Report:
        assert report.provenance is not None
        assert report.provenance.host is not None
        told = report.provenance
        versions = changes.get("versions", {})
        packages = tuple(one.replace(version=versions.get(one.name, one.version)) for one in told.packages or ())
        parts = {"host": report.provenance.host.replace(**changes.get("host", {})), "packages": packages}
        parts |= {name: value for name, value in changes.items() if name not in ("host", "versions")}
        return report.replace(provenance=told.replace(**parts))

    return edit


def beside_demo(report: Report) -> Report:
    """The run is said to have been one beside the demo, whose arguments need not fit it."""
    assert report.preset is not None
    argued = provenance(argv=("k3", "eval", "--preset", "demo", "--set", "arms.fused.drafter.block_size=4"))(report)
    return argued.replace(preset=report.preset.replace(part_of="demo"))


def drafter(**changes: Any) -> Callable[[Report], Report]:
    return lambda report: edit_arm(
        report, "fused_dflash", lambda arm: arm.replace(drafter=arm.drafter and arm.drafter.replace(**changes))
    )


def templates(report: Report) -> Report:
    """Every prompt is said to be of a template of its own, spelt as templates are."""
    assert report.workload is not None
    prompts = tuple(one.replace(group=f"synthetic/template{one.sample}") for one in report.workload.prompts)
    return report.replace(workload=report.workload.replace(prompts=prompts, digest=prompts_digest(prompts)))


def erring_less(report: Report) -> Report:
    made = with_samples(report, "e8-4", lambda row: scaled(row, 0.1, 0.1))
    assert made is not None
    assert made.kv_quant is not None
    return made.replace(kv_quant=made.kv_quant.replace(verdicts=()))


@pytest.mark.parametrize(
    ("name", "forge", "code", "claim"),
    [
        (CODE, only([0, 1, 3, 4, 5, 6, 7, 9, 10, 11]), "PLAN_CONTRADICTED", NGRAM),
        (CODE, only([0, 7, 2, 9, 4, 11]), "PRESET_DEPARTED", NGRAM),
        (CODE, templates, "PLAN_CONTRADICTED", NGRAM),
        (CODE, readings(later_after), "MACHINE_CONTRADICTED", NGRAM),
        (CODE, readings(lambda one: one.replace(at=one.at - timedelta(days=200))), "MACHINE_CONTRADICTED", NGRAM),
        (CODE, lambda report: report.replace(machine=None), "MACHINE_CONTRADICTED", NGRAM),
        (CODE, begun, "MACHINE_CONTRADICTED", NGRAM),
        (CODE, resumed, "MACHINE_CONTRADICTED", NGRAM),
        (CODE, slow_oracle, "TIMES_OF_NO_CLOCK", NGRAM),
        (CODE, repeated, "COPIED_ROWS", NGRAM),
        (CODE, models(lambda one: one.replace(recipe=None)), "MODEL_CONTRADICTED", NGRAM),
        (CODE, models(lambda one: one.replace(tokenizer=one.weights)), "MODEL_CONTRADICTED", NGRAM),
        (CODE, models(lambda one: one.replace(config=one.weights)), "MODEL_CONTRADICTED", NGRAM),
        (CODE, models(lambda one: one.replace(architecture="LlamaForCausalLM")), "MODEL_CONTRADICTED", NGRAM),
        (PARITY, models(of_smollm2), "MODEL_CONTRADICTED", PORT),
        (CODE, provenance(versions={"k3": "9.9"}), "HOST_CONTRADICTED", NGRAM),
        (CODE, provenance(versions={"cmeel-openblas": "0.4.0"}), "HOST_CONTRADICTED", NGRAM),
        (CODE, provenance(host={"chip": "Apple M4 Max"}), "HOST_CONTRADICTED", NGRAM),
        (CODE, provenance(host={"chip": "AMD EPYC"}), "HOST_CONTRADICTED", NGRAM),
        (CODE, provenance(host={"python": "2.7.18"}), "HOST_CONTRADICTED", NGRAM),
        (STDLIB, provenance(host={"python": "3.13.1"}), "HOST_CONTRADICTED", "acceptance/fused_ngram"),
        (CODE, provenance(packages=()), "PROVENANCE_MISSING", NGRAM),
        (CODE, beside_demo, "PRESET_DEPARTED", NGRAM),
        (CODE, drafter(dtype="float16"), "PRESET_DEPARTED", NGRAM),
        (CODE, drafter(graph="two_phase"), "PRESET_DEPARTED", NGRAM),
        (CODECS, erring_less, "KVQUANT_DISTORTION", "kv_codec_worthwhile/hadamard-e8-4"),
    ],
)
def test_a_forged_run_says_nothing(name: str, forge: Callable[[Report], Report], code: str, claim: str) -> None:
    report = load_report(EVIDENCE / f"{name}.json")
    sound, forged = conclude(report), conclude(forge(report))
    assert {one.name: one.status for one in sound.claims}[claim] == "admitted"
    judged = judge(forged)
    assert code in {violation.code for violation in judged.violations}
    assert claim not in {one.claim.name for one in judged.headlines}
