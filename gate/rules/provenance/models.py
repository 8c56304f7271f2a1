"""Which models took part: each by its weights, and each arm's among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, drafts_by_model
from gate.rulebook.rule import Example, Finding
from gate.rules.provenance.placeholders import DIGESTS_OF_NOTHING, is_given

if TYPE_CHECKING:
    from reports.records.measurement import Arm
    from reports.records.provenance import ModelInfo


@evidence_rule(
    "MODEL_UNIDENTIFIED",
    title="It is not known which model ran",
    catches="No verifier, a model without a digest of its weights (or with that of nothing), a verifier without "
    "architecture, layer types or dtype, or an arm whose drafter or projection is none of the models listed.",
    why="A name is not a model: a conversion under the same name had another RoPE base.",
    fix="Record id, digest of the weights, architecture and dtype of every model that was loaded.",
    severity="withheld",
    example=Example(bad="a verifier named `my-model`, no digest", good="its id, revision and weight digest"),
)
def model_unidentified(view: ReportView) -> Iterator[Finding]:
    """A model that took part cannot be told from another."""
    models = view.report.provenance.models if view.report.provenance is not None else ()
    if view.report.kind == "platform_tests":
        return
    if view.verifier is None:
        yield Finding("provenance.models: no verifier", field="provenance.models", found="0", allowed="1")
    for model in models:
        names = ("weights", "architecture", "dtype", "layer_types") if model.role == "verifier" else ("weights",)
        lacking = [name for name in names if not is_given(getattr(model, name))]
        if model.weights in DIGESTS_OF_NOTHING:
            message = f"provenance.models: the weights of {model.id} have the digest of nothing"
            yield Finding(message, field="provenance.models.weights", found=str(model.weights)[:23], allowed="a digest")
        if lacking:
            message = f"provenance.models: {model.role} {model.id} lacks {', '.join(lacking)}"
            yield Finding(message, field=f"provenance.models.{lacking[0]}", found="none", allowed="recorded")
    drafters = {model.weights for model in models if model.role == "drafter"}
    for arm in view.report.arms:
        weights = arm.drafter.weights if arm.drafter is not None else None
        if (drafts_by_model(arm) or weights is not None) and (weights is None or weights not in drafters):
            yield _not_listed(arm.name, "drafter.weights", "drafter", str(weights)[:23], len(drafters))
        yield from _unlisted_projection(view, arm, [model.weights for model in models if model.role == "f_theta"])
    smoke = view.report.runtime_smoke
    served = smoke.drafter.weights if smoke is not None and smoke.drafter is not None else None
    if served is not None and served not in drafters and not view.imported:
        yield _not_listed("runtime_smoke", "runtime_smoke.drafter.weights", "drafter", served[:23], len(drafters))
    yield from _unused(view, models)
    parity = view.report.parity
    if parity is not None and (parity.drafter_weights is None or parity.drafter_weights not in drafters):
        yield _not_listed(None, "parity.drafter_weights", "drafter", str(parity.drafter_weights)[:23], len(drafters))


def _unlisted_projection(view: ReportView, arm: Arm, listed: Sequence[str | None]) -> Iterator[Finding]:
    """An f_theta arm names the digest of its maps (other tools' reports do not), and it is one of those `listed`."""
    kept = arm.restoration
    if kept is None or kept.mode != "f_theta" or kept.weights in listed or (view.imported and listed):
        return
    yield _not_listed(arm.name, "restoration.weights", "f_theta", str(kept.weights)[:23], len(listed))


def _unused(view: ReportView, models: tuple[ModelInfo, ...]) -> Iterator[Finding]:
    """A drafter or projection that was loaded and that no arm admits to: an arm under another name uses it."""
    report = view.report
    weights = {arm.drafter.weights for arm in report.arms if arm.drafter is not None}
    weights |= {report.parity.drafter_weights} if report.parity is not None else set()
    smoke = report.runtime_smoke
    weights |= {smoke.drafter.weights} if smoke is not None and smoke.drafter is not None else set()
    kept = [arm.restoration for arm in report.arms] + ([smoke.restoration] if smoke is not None else [])
    projecting = any(one is not None and one.mode == "f_theta" for one in kept)
    for model in models if not view.imported and report.replay is None else ():
        if (model.role in ("f_theta", "proposer") and not projecting) or (
            model.role == "drafter" and model.weights not in weights
        ):
            message = f"provenance.models: {model.role} {model.id} was loaded, and no arm uses it"
            yield Finding(message, field="provenance.models", found="0 arms", allowed="at least 1")


def _not_listed(arm: str | None, field: str, role: str, found: str, count: int) -> Finding:
    message = f"{arm or 'parity'}: its {role} ({found}) is none of the {count} models of that role in provenance"
    return Finding(message, arm=arm, field=field, found=found, allowed=f"a model of role {role}")
