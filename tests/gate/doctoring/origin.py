"""Where a report comes from: code, machine, models, preset, importer."""

import random
from datetime import timedelta
from typing import Any

from gate.rules.provenance.dates import FORM_SINCE
from reports.records.provenance import AsRun, Faithfulness, Package
from reports.report import Imported, Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import any_arm
from tests.gate.doctoring.prompts import fresh_digest
from tests.gate.doctoring.verdicts import dirty
from tests.gate.edits import dated, edit_arm, set_plan, set_source, set_verifier


@doctoring(truth=dirty)
def clean_the_tree(report: Report, rng: random.Random) -> Report | None:
    """A dirty tree is said to have been clean."""
    return set_source(report, dirty=False)


@doctoring(truth=dirty)
def forget_the_tree(report: Report, rng: random.Random) -> Report | None:
    """Whether the tree was clean is not said any more."""
    return set_source(report, dirty=None)


@doctoring(truth=dirty)
def name_files_instead(report: Report, rng: random.Random) -> Report | None:
    """Code of a dirty tree is said to have been an installed wheel."""
    return set_source(report, git_commit=None, dirty=None, version="0.1.0", files=fresh_digest(rng))


def _with_faithfulness(report: Report, checked: Faithfulness | None) -> Report:
    return set_verifier(report, faithfulness=checked)


def unfaithful(report: Report) -> Report | None:
    """The truth: the verifier differs from the reference implementation."""
    checked = Faithfulness(reference="transformers", tokens=256, argmax_agreement=0.961, largest_logit_gap=14.7)
    return _with_faithfulness(report, checked)


@doctoring(truth=unfaithful)
def forge_faithfulness(report: Report, rng: random.Random) -> Report | None:
    """The verifier is said to agree with the reference."""
    checked = Faithfulness(reference="transformers", tokens=256, argmax_agreement=1.0, largest_logit_gap=2e-4)
    return _with_faithfulness(report, checked)


@doctoring(truth=unfaithful)
def forge_agreement_alone(report: Report, rng: random.Random) -> Report | None:
    """The verifier's argmax is said to agree with the reference; its logits are forgotten."""
    checked = Faithfulness(reference="transformers", tokens=256, argmax_agreement=1.0, largest_logit_gap=14.7)
    return _with_faithfulness(report, checked)


@doctoring(truth=unfaithful)
def forge_few_tokens(report: Report, rng: random.Random) -> Report | None:
    """The verifier is said to agree with the reference, on one position."""
    checked = Faithfulness(reference="transformers", tokens=1, argmax_agreement=1.0, largest_logit_gap=0.0)
    return _with_faithfulness(report, checked)


@doctoring(truth=unfaithful)
def negative_gap(report: Report, rng: random.Random) -> Report | None:
    """The verifier's logits are said to be off by less than nothing."""
    checked = Faithfulness(reference="transformers", tokens=256, argmax_agreement=1.0, largest_logit_gap=-14.7)
    return _with_faithfulness(report, checked)


@doctoring(truth=unfaithful)
def drop_faithfulness(report: Report, rng: random.Random) -> Report | None:
    """The comparison with the reference goes."""
    return _with_faithfulness(report, None)


@doctoring()
def drop_provenance(report: Report, rng: random.Random) -> Report | None:
    """Nothing says any more where the report comes from."""
    return report.replace(provenance=None)


@doctoring()
def drop_part_of_provenance(report: Report, rng: random.Random) -> Report | None:
    """Host, packages, arguments or device go."""
    assert report.provenance is not None
    return report.replace(
        provenance=report.provenance.replace(**{rng.choice(("host", "packages", "argv", "device")): None})
    )


@doctoring()
def drop_models(report: Report, rng: random.Random) -> Report | None:
    """The models go."""
    assert report.provenance is not None
    return report.replace(provenance=report.provenance.replace(models=()))


@doctoring()
def drop_weights(report: Report, rng: random.Random) -> Report | None:
    """A model is not identified any more."""
    return set_verifier(report, weights=None)


@doctoring()
def drop_preset(report: Report, rng: random.Random) -> Report | None:
    """The preset goes."""
    return report.replace(preset=None)


@doctoring()
def drop_plan(report: Report, rng: random.Random) -> Report | None:
    """The plan goes, and with it the order."""
    return report.replace(plan=None)


@doctoring()
def drop_plan_digest(report: Report, rng: random.Random) -> Report | None:
    """The plan's digest goes."""
    return set_plan(report, digest=None) if report.plan is not None else None


@doctoring()
def drop_date(report: Report, rng: random.Random) -> Report | None:
    """The date goes."""
    return report.replace(created_at=None)


def imported(report: Report) -> Report | None:
    """The truth: the report was made from another tool's file."""
    digest = fresh_digest(random.Random("imported"))
    return report.replace(imported=Imported(importer="dflash-mlx", original_digest=digest))


@doctoring(truth=imported)
def remove_imported_flag(report: Report, rng: random.Random) -> Report | None:
    """An imported report is said to be one of K3's own."""
    return report.replace(imported=None)


@doctoring()
def add_imported_flag(report: Report, rng: random.Random) -> Report | None:
    """A report of K3's own is said to be imported, where slack is larger; a claim is rounded up."""
    report = imported(report) or report
    return report.replace(claims=tuple(claim.replace(value=claim.value * 1.008) for claim in report.claims))


def unknown_drafter(report: Report) -> Report | None:
    """The truth: the drafter that ran is not the one whose parity was shown."""
    return _with_drafter(report, fresh_digest(random.Random("drafter")))


def _with_drafter(report: Report, weights: str | None) -> Report | None:
    names = [arm.name for arm in report.arms if arm.drafter is not None and arm.drafter.weights is not None]
    if not names or report.provenance is None:
        return None
    for name in names:
        report = edit_arm(report, name, lambda arm: arm.replace(drafter=arm.drafter.replace(weights=weights)))
    models = tuple(m.replace(weights=weights) if m.role == "drafter" else m for m in report.provenance.models)
    if report.parity is not None:
        known = report.parity.drafter_weights
        kept = next((m for m in report.provenance.models if m.role == "drafter"), None)
        models = (*models, *((kept.replace(weights=known),) if kept is not None and known != weights else ()))
    return report.replace(provenance=report.provenance.replace(models=models))


@doctoring(truth=unknown_drafter)
def borrow_parity(report: Report, rng: random.Random) -> Report | None:
    """A drafter is said to be the one whose parity was shown."""
    if report.parity is None:
        return None
    report = _with_drafter(report, report.parity.drafter_weights) or report
    assert report.provenance is not None
    seen: dict[tuple[Any, Any], Any] = {}
    for model in report.provenance.models:
        seen.setdefault((model.role, model.weights), model)
    return report.replace(provenance=report.provenance.replace(models=tuple(seen.values())))


@doctoring(truth=unknown_drafter)
def borrow_parity_by_name(report: Report, rng: random.Random) -> Report | None:
    """The parity is said to be of the drafter that ran, which provenance lists."""
    weights = next((arm.drafter.weights for arm in report.arms if arm.drafter and arm.drafter.weights), None)
    if report.parity is None or weights is None:
        return None
    return report.replace(parity=report.parity.replace(drafter_weights=weights))


@doctoring()
def other_verifier(report: Report, rng: random.Random) -> Report | None:
    """The verifier is said to be a larger model; weights and figures stay."""
    return set_verifier(report, id="a-much-larger-model", architecture="llama")


@doctoring()
def other_kind(report: Report, rng: random.Random) -> Report | None:
    """The report is said to be of another kind."""
    return report.replace(kind=rng.choice(("parity", "kv_quant", "benchmark", "chat")))


@doctoring()
def other_dtype(report: Report, rng: random.Random) -> Report | None:
    """The verifier is said to compute in a coarser format, in which more is a tie; a wrong token is audited as one."""
    name = any_arm(report, rng, "sut")
    return set_verifier(report, dtype="bfloat16") if name is not None else None


@doctoring()
def other_dtype_compared(report: Report, rng: random.Random) -> Report | None:
    """The same, with a comparison in that format made up."""
    models = report.provenance.models if report.provenance is not None else ()
    checked = next((model.faithfulness for model in models if model.role == "verifier"), None)
    if checked is None or any_arm(report, rng, "sut") is None:
        return None
    run = AsRun(dtype="bfloat16", tokens=64, argmax_agreement=0.96)
    return set_verifier(report, dtype="bfloat16", faithfulness=checked.replace(as_run=run))


@doctoring()
def other_weights(report: Report, rng: random.Random) -> Report | None:
    """The verifier's weights are said to be others."""
    return set_verifier(report, weights=fresh_digest(rng))


@doctoring()
def other_commit(report: Report, rng: random.Random) -> Report | None:
    """Other code is said to have run."""
    return set_source(report, git_commit=fresh_digest(rng)[-40:])


@doctoring()
def other_preset(report: Report, rng: random.Random) -> Report | None:
    """The run is said to have been of another preset, or of the preset without overrides."""
    if report.preset is None:
        return None
    return report.replace(preset=report.preset.replace(digest=fresh_digest(rng)))


@doctoring()
def other_plan_digest(report: Report, rng: random.Random) -> Report | None:
    """The plan is said to have been another one."""
    return set_plan(report, digest=fresh_digest(rng)) if report.plan is not None else None


@doctoring()
def other_machine(report: Report, rng: random.Random) -> Report | None:
    """The run is said to have been on another machine."""
    if report.provenance is None or report.provenance.host is None:
        return None
    host = report.provenance.host.replace(chip="Apple M1", machine="arm64", os="Darwin 25.1.0", memory=8 * 2**30)
    return report.replace(provenance=report.provenance.replace(host=host))


@doctoring()
def other_chip(report: Report, rng: random.Random) -> Report | None:
    """The machine is said to have another processor, of a maker whose machines are others."""
    if report.provenance is None or report.provenance.host is None:
        return None
    host = report.provenance.host.replace(chip=rng.choice(("Apple M3 Max", "Apple M4")))
    return report.replace(provenance=report.provenance.replace(host=host))


@doctoring()
def other_k3(report: Report, rng: random.Random) -> Report | None:
    """The package of K3 is said to be of another version than the source."""
    if report.provenance is None:
        return None
    packages = (*(report.provenance.packages or ()), Package(name="k3", version="1.4.0"))
    return report.replace(provenance=report.provenance.replace(packages=packages))


@doctoring()
def without_mlx(report: Report, rng: random.Random) -> Report | None:
    """What computed is not named among the packages any more."""
    if report.provenance is None:
        return None
    packages = tuple(one for one in report.provenance.packages or () if one.name != "mlx")
    return report.replace(provenance=report.provenance.replace(packages=packages))


@doctoring()
def date_it_today(report: Report, rng: random.Random) -> Report | None:
    """A report in the form of old is said to be of a day on which none is written so any more."""
    if report.created_at is None or report.plan is None:
        return None
    return dated(report, FORM_SINCE + timedelta(hours=rng.randint(0, 23)))


@doctoring()
def other_report_id(report: Report, rng: random.Random) -> Report | None:
    """The report gets another id and date, as if it were another run."""
    return report.replace(report_id="niah-smollm2-again")
