"""What arms are called: engine, mode, label, loop, scope, bounds."""

import random

from reports.drafters import NGRAM
from reports.records.constants import NATIVE_BASELINE_LABEL
from reports.records.measurement import DrafterInfo
from reports.records.provenance import Faithfulness, ModelInfo
from reports.report import Report
from tests.gate.doctoring.arms import renamed
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import ablated, any_arm, drafting, restoring, under_test
from tests.gate.doctoring.reshape import arm_of, edit_all_rows, set_arm, timed
from tests.gate.edits import edit_rows

DIGEST = "sha256:" + "5e" * 32


@doctoring()
def baseline_as_system(report: Report, rng: random.Random) -> Report | None:
    """A native baseline is labelled as the system under test."""
    names = [arm.name for arm in report.arms if arm.system_under_test == NATIVE_BASELINE_LABEL]
    return set_arm(report, names[0], system_under_test="k3 incremental, f_theta restoration") if names else None


@doctoring()
def system_as_baseline(report: Report, rng: random.Random) -> Report | None:
    """A system under test is labelled as a native baseline, so that no control is asked for."""
    name = under_test(report, rng)
    if name is None or arm_of(report, name).system_under_test == NATIVE_BASELINE_LABEL:
        return None
    return set_arm(report, name, system_under_test=NATIVE_BASELINE_LABEL)


@doctoring()
def identity_as_f_theta(report: Report, rng: random.Random) -> Report | None:
    """An identity arm is said to restore by projection."""
    names = [arm.name for arm in report.arms if arm.restoration is not None and arm.restoration.mode == "identity"]
    if not names:
        return None
    kept = arm_of(report, names[0]).restoration
    assert kept is not None
    return set_arm(report, names[0], restoration=kept.replace(mode="f_theta"))


@doctoring()
def identity_as_f_theta_throughout(report: Report, rng: random.Random) -> Report | None:
    """An identity arm is said to restore by projection, with a model, time for features and a name to match."""
    names = [arm.name for arm in report.arms if arm.restoration is not None and arm.restoration.mode == "identity"]
    if not names or report.provenance is None:
        return None
    model = ModelInfo(role="f_theta", id="f-theta", weights=DIGEST, architecture="ridge", dtype="float32")
    models = (*report.provenance.models, model)
    report = report.replace(provenance=report.provenance.replace(models=models))
    report = edit_rows(
        report, names[0], lambda row: timed(row, aux_s=(row.prompt_tokens or 0) * rng.uniform(1e-5, 3e-5))
    )
    kept = arm_of(report, names[0]).restoration
    assert kept is not None
    return renamed(
        set_arm(report, names[0], restoration=kept.replace(mode="f_theta", weights=DIGEST)), names[0], "projected"
    )


@doctoring()
def restoring_as_native(report: Report, rng: random.Random) -> Report | None:
    """A restoring arm is said to run on the native cache."""
    name = restoring(report, rng)
    if name is None:
        return None
    kept = arm_of(report, name).restoration
    assert kept is not None
    return set_arm(report, name, restoration=kept.replace(mode="none"))


@doctoring()
def native_as_restoring(report: Report, rng: random.Random) -> Report | None:
    """A native baseline is said to restore, bounded as the control is."""
    names = [arm.name for arm in report.arms if arm.system_under_test == NATIVE_BASELINE_LABEL]
    control = ablated(report)
    if not names or control is None or control.restoration is None:
        return None
    changes = {"restoration": control.restoration.replace(mode="identity"), "system_under_test": "k3 incremental"}
    report = set_arm(report, names[0], engine=control.engine, decode_loop=control.decode_loop, **changes)
    return edit_rows(
        report, names[0], lambda row: row.replace(restoration_active=True, decode_loop=control.decode_loop)
    )


@doctoring()
def native_as_restoring_throughout(report: Report, rng: random.Random) -> Report | None:
    """A native baseline is said to restore; positions and seconds are copied from the control and made up."""
    names = [arm.name for arm in report.arms if arm.system_under_test == NATIVE_BASELINE_LABEL]
    control = ablated(report)
    if not names or control is None or control.restoration is None:
        return None
    rows = {(row.sample, row.repeat): row for row in control.measurements}
    mode = control.restoration.replace(mode="identity", residency="resident")
    report = set_arm(
        report, names[0], engine=control.engine, decode_loop=control.decode_loop, restoration=mode,
        system_under_test="k3 incremental, identity restoration",
    )  # fmt: skip

    def edit(row):
        gone = rows[row.sample, row.repeat].evicted_positions or 0
        row = row.replace(
            restoration_active=True, restored_positions=gone, evicted_positions=gone, decode_loop=control.decode_loop
        )
        return timed(row, restoration_s=gone * 1.2e-6)

    return edit_rows(report, names[0], edit)


@doctoring()
def native_as_fused(report: Report, rng: random.Random) -> Report | None:
    """A native baseline is said to draft."""
    names = [arm.name for arm in report.arms if arm.system_under_test == NATIVE_BASELINE_LABEL]
    if not names:
        return None
    drafter = DrafterInfo(name=NGRAM.name, runtime="python", block_size=8, rollback="trim", graph="two_phase")
    return set_arm(report, names[0], engine="fused", drafter=drafter, system_under_test="k3 fused")


@doctoring()
def fused_without_drafter(report: Report, rng: random.Random) -> Report | None:
    """The drafter of an arm is not mentioned, so that no parity is asked for."""
    name = drafting(report, rng)
    return set_arm(report, name, drafter=None) if name is not None else None


@doctoring()
def model_drafter_as_lookup(report: Report, rng: random.Random) -> Report | None:
    """A drafter with weights is called prompt lookup, and its model goes, so that no parity is asked for."""
    name = drafting(report, rng)
    drafter = arm_of(report, name).drafter if name is not None else None
    if name is None or drafter is None or drafter.weights is None or report.provenance is None:
        return None
    models = tuple(model for model in report.provenance.models if model.role != "drafter")
    report = report.replace(provenance=report.provenance.replace(models=models), parity=None)
    report = set_arm(report, name, drafter=drafter.replace(name=NGRAM.name, weights=None, dtype=None))
    return renamed(report, name, "fused_lookup")


@doctoring()
def edit_block_size(report: Report, rng: random.Random) -> Report | None:
    """A drafter with weights is said to propose other blocks than it did."""
    name = drafting(report, rng)
    drafter = arm_of(report, name).drafter if name is not None else None
    if name is None or drafter is None or drafter.weights is None:
        return None
    return set_arm(report, name, drafter=drafter.replace(block_size=rng.choice((1, 4, 64))))


@doctoring()
def edit_lookup_block_size(report: Report, rng: random.Random) -> Report | None:
    """Prompt lookup is said to have been allowed longer drafts than it made."""
    name = drafting(report, rng)
    drafter = arm_of(report, name).drafter if name is not None else None
    if name is None or drafter is None or drafter.weights is not None:
        return None
    return set_arm(report, name, drafter=drafter.replace(block_size=64))


@doctoring()
def edit_drafter_description(report: Report, rng: random.Random) -> Report | None:
    """Graph, rollback or precision of a drafter are said to be other ones."""
    name = drafting(report, rng)
    drafter = arm_of(report, name).drafter if name is not None else None
    if name is None or drafter is None:
        return None
    change = rng.choice(({"graph": "single"}, {"rollback": "copy"}, {"dtype": "bfloat16"}))
    return set_arm(report, name, drafter=drafter.replace(**change))


@doctoring()
def model_drafter_as_small_model(report: Report, rng: random.Random) -> Report | None:
    """A ported drafter is called an ordinary small model, which needs no parity, with a faithfulness made up."""
    name = drafting(report, rng)
    drafter = arm_of(report, name).drafter if name is not None else None
    if name is None or drafter is None or drafter.weights is None or report.provenance is None:
        return None
    checked = Faithfulness(reference="transformers", tokens=256, argmax_agreement=1.0, largest_logit_gap=1e-4)
    models = tuple(m.replace(faithfulness=checked) if m.role == "drafter" else m for m in report.provenance.models)
    report = report.replace(provenance=report.provenance.replace(models=models), parity=None)
    return renamed(set_arm(report, name, drafter=drafter.replace(name="model")), name, "fused_small")


@doctoring()
def misspell_engine(report: Report, rng: random.Random) -> Report | None:
    """An engine gets a name that no rule knows."""
    name = under_test(report, rng)
    return set_arm(report, name, engine=rng.choice(("fused2", "Fused", "incremental_v2"))) if name else None


def own_loop(report: Report) -> Report | None:
    """The truth: the oracle was decoded by a slow loop of its own, and so was the null arm."""
    names = [arm.name for arm in report.arms if arm.role in ("oracle", "null")]
    for name in names:
        report = set_arm(report, name, decode_loop="naive_step")
    report = edit_all_rows(report, names, lambda row: row.replace(decode_loop="naive_step"))
    return report if names else None


@doctoring(truth=own_loop)
def relabel_oracle_loop(report: Report, rng: random.Random) -> Report | None:
    """An oracle of a slow loop is said to have run the reference loop, in its rows too."""
    names = [arm.name for arm in report.arms if arm.role in ("oracle", "null")]
    for name in names:
        report = set_arm(report, name, decode_loop="generate_step")
    return edit_all_rows(report, names, lambda row: row.replace(decode_loop="generate_step"))


@doctoring(truth=own_loop)
def relabel_oracle_loop_of_arm(report: Report, rng: random.Random) -> Report | None:
    """An oracle of a slow loop is said to have run the reference loop; its rows still tell."""
    for name in [arm.name for arm in report.arms if arm.role in ("oracle", "null")]:
        report = set_arm(report, name, decode_loop="generate_step")
    return report


def other_scope(report: Report) -> Report | None:
    """The truth: oracle and null arm were timed over another scope than the rest."""
    names = [arm.name for arm in report.arms if arm.role in ("oracle", "null")]
    for name in names:
        report = set_arm(report, name, timing_scope="e2e_prefill_plus_decode")
    return report if names else None


@doctoring(truth=other_scope)
def relabel_scope(report: Report, rng: random.Random) -> Report | None:
    """Arms timed over different scopes are said to have been timed alike."""
    for arm in report.arms:
        report = set_arm(report, arm.name, timing_scope="stages")
    return report


@doctoring()
def edit_scope(report: Report, rng: random.Random) -> Report | None:
    """An arm is said to have been timed over another scope, or none."""
    name = any_arm(report, rng)
    scope = rng.choice(("e2e_prefill_plus_decode", None))
    return set_arm(report, name, timing_scope=scope) if name is not None else None


@doctoring()
def narrow_bounds(report: Report, rng: random.Random) -> Report | None:
    """Arms that evict are said to have kept a smaller window."""
    names = [arm.name for arm in report.arms if arm.restoration is not None and arm.restoration.window]
    for name in names:
        kept = arm_of(report, name).restoration
        assert kept is not None
        report = set_arm(report, name, restoration=kept.replace(window=(kept.window or 0) // 4))
    return report if names else None


@doctoring()
def edit_exact_layers(report: Report, rng: random.Random) -> Report | None:
    """A restoring arm is said to keep other layers exact."""
    name = restoring(report, rng)
    kept = arm_of(report, name).restoration if name is not None else None
    if name is None or kept is None:
        return None
    return set_arm(report, name, restoration=kept.replace(exact_layers=(5, 11, 17)))


@doctoring()
def edit_residency(report: Report, rng: random.Random) -> Report | None:
    """Restored K/V are said to be gone after use, where they stay, or the other way round."""
    name = restoring(report, rng)
    kept = arm_of(report, name).restoration if name is not None else None
    if name is None or kept is None:
        return None
    other = "transient" if kept.residency == "resident" else "resident"
    return set_arm(report, name, restoration=kept.replace(residency=other))


@doctoring()
def boast_in_words(report: Report, rng: random.Random) -> Report | None:
    """An arm is labelled as the fastest, in words and without a figure."""
    name = any_arm(report, rng, "sut", "peer")
    said = rng.choice(("the fastest engine", "twice the tokens", "three times as quick", "beats every other"))
    return set_arm(report, name, system_under_test=f"k3 fused, {said}") if name is not None else None


@doctoring()
def boast_in_another_name(report: Report, rng: random.Random) -> Report | None:
    """The preset, a codec or a runtime gets a name that tells a figure or a rank, wherever it stands."""
    name = rng.choice(("5x-faster", "twice_as_fast", "best of all", "three-times"))
    if report.kv_quant is not None:
        last = report.kv_quant.arms[-1].name
        arms = tuple(one.replace(name=name) if one.name == last else one for one in report.kv_quant.arms)
        return report.replace(kv_quant=report.kv_quant.replace(arms=arms, verdicts=()))
    if report.kind == "parity" and report.parity is not None:
        return report.replace(parity=report.parity.replace(candidate_runtime=name))
    if report.preset is None or report.plan is None:
        return None
    old, plain = report.preset.name, name.replace(" ", "-")
    renamed = report.preset.replace(name=plain)
    return report.replace(preset=renamed, report_id=report.report_id.replace(f"{old}-", f"{plain}-", 1))
