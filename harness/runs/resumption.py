"""Whether rows measured now belong beside those measured before: the same run, code, machine, models and arms."""

from reports.records.provenance import ModelInfo, Provenance
from reports.report import Report

_OF_A_MODEL = ("weights", "config", "tokenizer")


def unlike(found: Report, ours: Report) -> str | None:
    """Why the run that was begun as `found` is not the one that begins as `ours`; None if it is.

    Both are reports of a run before anything was measured. Everything in them must be the same but the name and date
    of the report, the arguments, and what was found out about the models since.
    """
    if found.plan is None or ours.plan is None or found.kind != ours.kind or found.preset != ours.preset:
        return "they are of another run"
    other = _other_model(found, ours) or _other_condition(found.provenance, ours.provenance)
    if other is not None:
        return f"{other} has changed since it was begun"
    if found.plan.digest != ours.plan.digest:
        return "they are of another run"
    same = {name: getattr(ours, name) for name in ("report_id", "created_at", "provenance")}
    renamed = found.replace(**same)
    for name in Report.model_fields:
        if getattr(renamed, name) != getattr(ours, name):
            return f"{name} has changed since it was begun"
    return None


def _other_model(found: Report, ours: Report) -> str | None:
    """What is different about a model, in the words of who changed it."""
    for then, now in zip(_models(found), _models(ours), strict=False):
        for part in _OF_A_MODEL:
            if getattr(then, part) != getattr(now, part):
                return f"the model {part} ({now.role} {now.id})"
    return None


def _models(report: Report) -> tuple[ModelInfo, ...]:
    return report.provenance.models if report.provenance is not None else ()


def _other_condition(found: Provenance | None, ours: Provenance | None) -> str | None:
    """The first field of the provenance that says the rows were measured under something else."""
    theirs, own = _conditions(found), _conditions(ours)
    return next((f"provenance.{name}" for name in own if theirs.get(name) != own[name]), None)


def _conditions(provenance: Provenance | None) -> dict[str, object]:
    """What a run is measured under: everything but the arguments, and what was found out about the models since."""
    if provenance is None:
        return {}
    conditions: dict[str, object] = {name: getattr(provenance, name) for name in type(provenance).model_fields}
    del conditions["argv"]
    conditions["models"] = tuple(model.replace(faithfulness=None) for model in provenance.models)
    return conditions
