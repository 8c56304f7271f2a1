"""Cases of the rules about codecs."""

from collections.abc import Callable
from typing import Any

from reports.records.plan import prompts_digest
from reports.report import Report
from tests.gate.cases.bases import kv_quant
from tests.gate.edits import set_plan
from tests.gate.rule_case import RuleCase, measured

CODECS = "kv_quant/arms"


def edit_codec(report: Report, name: str, edit: Callable[[Any], Any]) -> Report:
    assert report.kv_quant is not None
    arms = tuple(edit(arm) if arm.name == name else arm for arm in report.kv_quant.arms)
    return report.replace(kv_quant=report.kv_quant.replace(arms=arms))


def with_errors(row: Any, **errors: float) -> Any:
    """A codec's row whose layers all err by `k` or `v`, and so does the whole; a trace more from prompt to prompt."""
    errors = {side: value * (1 + 1e-9 * row.sample) for side, value in errors.items()}
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


def unjudged_kv_quant() -> Report:
    """Ten prompts, and no printed verdict."""
    report = kv_quant()
    assert report.kv_quant is not None
    return report.replace(kv_quant=report.kv_quant.replace(verdicts=()))


def nine_prompts_only(report: Report) -> Report:
    """The last prompt was never asked."""
    assert report.kv_quant is not None
    assert report.workload is not None
    arms = tuple(arm.replace(samples=arm.samples[:9]) for arm in report.kv_quant.arms)
    prompts = report.workload.prompts[:9]
    return set_plan(report, samples=9).replace(
        kv_quant=report.kv_quant.replace(arms=arms, oracle=report.kv_quant.oracle[:9]),
        workload=report.workload.replace(prompts=prompts, digest=prompts_digest(prompts)),
    )


def _samples(arm: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{CODECS}/{arm}/samples/*/{name}" for name in names)


CASES: dict[str, RuleCase] = {
    "KVQUANT_CONTROL": measured(
        kv_quant,
        lambda report: errs(report, "identity", k=1e-3),
        *_samples("identity", "layers/*/k", "relative_error_k"),
    ),
    "KVQUANT_ARITHMETIC": measured(kv_quant, halved_error, f"{CODECS}/lattice_d4/samples/0/relative_error_k"),
    "KVQUANT_ORDER": measured(
        kv_quant,
        lambda report: errs(report, "affine8", k=0.05, v=0.05),
        *_samples("affine8", "layers/*/k", "layers/*/v", "relative_error_k", "relative_error_v"),
    ),
    "KVQUANT_DISTORTION": measured(
        kv_quant,
        lambda report: errs(report, "affine8", k=3e-6),
        *_samples("affine8", "layers/*/k", "relative_error_k"),
    ),
    "KVQUANT_RATE": measured(
        kv_quant,
        lambda report: edit_codec(report, "affine4", lambda arm: arm.replace(stated_bits=4.0)),
        f"{CODECS}/affine4/stated_bits",
        claims=("kv_codec_worthwhile/lattice_d4",),
    ),
    "KVQUANT_SAMPLES": measured(
        unjudged_kv_quant,
        nine_prompts_only,
        *(f"{CODECS}/*/samples/9", "kv_quant/oracle/9", "plan/samples", "workload/digest", "workload/prompts/main.9"),
        claims=("kv_codec_worthwhile/affine8",),
    ),
    "KVQUANT_VERDICT": measured(kv_quant, flip_verdict, "kv_quant/verdicts/lattice_d4/worthwhile"),
}
