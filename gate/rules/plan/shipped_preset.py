"""What a run from a shipped preset had to be: its prompts, repeats and arms, with the overrides that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, evicts, restoration_of
from gate.rulebook.rule import Example, Fault, Finding
from gate.rulebook.shipped_presets import Document, ShippedPreset, preset_document, shipped_presets
from gate.rules.plan.planned_prompts import unlike_planned
from reports.drafters import DRAFTERS, SHUFFLED
from reports.known_models import KNOWN_WEIGHTS
from reports.records.constants import OWN

if TYPE_CHECKING:
    from reports.records.measurement import Arm
    from reports.records.plan import PresetInfo
    from reports.report import Report

_PLANNED = ("samples", "repeats", "processes", "seed", "max_new_tokens", "prefill_chunk")

_DEFAULTS = {
    "samples": 5,
    "repeats": 1,
    "processes": 3,
    "seed": 42,
    "max_new_tokens": 16,
    "prefill_chunk": 512,
    "sink": 4,
    "window": 64,
    "until_width": None,
    "most_processes": 12,
    "budget_s": None,
}
"""Of what a preset may leave out; a test holds them to the records of presets."""

_BEFORE_PROCESSES = _DEFAULTS | {"repeats": 3, "processes": 1}
"""The same of superseded presets from when a run was one process."""

_NAMED = frozenset(KNOWN_WEIGHTS.values())
"""Models that a report calls as a preset does; a folder of one's own goes by another name."""

_ADDED = ("oracle", "oracle_again", "needle_free")
"""Arms that every run of their kind has, whatever its preset names."""


PRESET_UNKNOWN = "PRESET_UNKNOWN"


@evidence_rule(
    PRESET_UNKNOWN,
    title="Another preset under the name of one that ships",
    catches="A preset with the name of one that ships, and the digest of no file of that name that ships or shipped.",
    why="What should have been run is told by the preset; a digest of nothing lets prompts and arms go unseen.",
    fix="Measure with a preset that ships (`k3 presets list`), or give your own a name of its own. Who changes one "
    "that ships keeps its old file in `presets/superseded`.",
    severity="withheld",
    example=Example(bad="preset demo, with a digest of no file", good="preset demo, as it ships"),
    since=4,
)
def preset_unknown(view: ReportView) -> Iterator[Finding]:
    """Name and digest of the preset fit nothing."""
    preset = view.report.preset
    if preset is None or view.imported:
        return
    known = sorted(digest for name, digest in shipped_presets() if name == preset.name)
    if known and preset.digest not in known:
        message = (
            f"preset {preset.name} of digest {preset.digest[:19]} ships with no K3 that this one knows (of one that "
            "changed, the old file stays in presets/superseded)"
        )
        allowed = ", ".join(digest[:19] for digest in known)
        yield Finding(message, field="preset.digest", found=preset.digest[:19], allowed=allowed)


@evidence_rule(
    "PRESET_DEPARTED",
    title="Another run than its preset plans",
    catches="A run of a shipped preset with other samples, repeats, seed, budget, form of prompts, model, arms, roles, "
    "labels, engines, modes, weights, drafters or codecs than the file says with the overrides that the report names; "
    "beside a preset whose file does not name it; or of other prompts than K3's templates make from the file's seed.",
    why="Slow prompts left out, a control that is gone, two arms that traded names: the preset says what was planned.",
    fix="Name every override; let the runner write plan and arms.",
    example=Example(
        bad="10 prompts, 12 in the preset, no override", good="10 prompts, and `samples=10` among the overrides"
    ),
    since=4,
)
def preset_departed(view: ReportView) -> Iterator[Finding]:
    """Plan or arms are not those of the preset."""
    report, preset = view.report, view.report.preset
    shipped = shipped_presets().get((preset.name, preset.digest)) if preset is not None and not view.imported else None
    if shipped is None or preset is None:
        return
    try:
        document = _with_defaults(report, shipped, preset_document(shipped.data, preset.overrides))
    except ValueError as error:
        yield Finding(
            f"preset.overrides: {error}", field="preset.overrides", found=str(error)[:80], allowed="key=value"
        )
        return
    faults = (
        *_planned(report, preset, document),
        *_form(report, shipped, document),
        *_arms(report, document),
        *_beside(preset),
        *unlike_planned(view, preset),
    )
    for field, message, found, allowed in faults:
        yield Finding(f"{field}: {message}", field=field, found=found[:80], allowed=allowed[:80])


def _beside(preset: PresetInfo) -> Iterator[Fault]:
    """A shipped preset that it is said to have been run beside, and that names it in no file of that name."""
    files = [one.data for (name, _), one in shipped_presets().items() if name == preset.part_of]
    if files and not any(preset.name in preset_document(data, ()).get("beside", ()) for data in files):
        message = f"is {preset.part_of}, which runs no {preset.name} beside it"
        yield Fault("preset.part_of", message, str(preset.part_of), "a preset that names it")


def _with_defaults(report: Report, shipped: ShippedPreset, document: Document) -> Document:
    alone = shipped.superseded and (report.plan is None or report.plan.processes is None)
    return (_BEFORE_PROCESSES if alone else _DEFAULTS) | document


def _planned(report: Report, preset: PresetInfo, document: Document) -> Iterator[Fault]:
    recorded: dict[str, Any] = {name: getattr(report.plan, name, None) for name in _PLANNED}
    recorded["processes"] = (report.plan.asked_processes if report.plan is not None else None) or 1
    recorded["seed"] = report.workload.seed if report.workload is not None else None
    yield from _stopping(report, document)
    if not report.arms:  # codecs and drafts are measured once; they have no budget of a stream
        recorded = {name: recorded[name] for name in ("samples", "seed")}
    for name, found in recorded.items():
        planned = document[name]
        if found != planned and found is not None:
            yield Fault(f"plan.{name}", f"is {found}, the preset plans {planned}", str(found), str(planned))
    if report.kind != document.get("kind"):
        yield Fault("kind", f"is {report.kind}, the preset's is {document.get('kind')}", report.kind, "the preset's")
    asked = [setting.partition("=")[0].strip() for setting in preset.overrides]
    models = report.provenance.models if report.provenance is not None else ()
    for model in models if "model" not in asked else ():
        if model.role == "verifier" and model.id != document.get("model"):
            yield Fault("provenance.models", f"verifier {model.id}, the preset's is {document.get('model')}", model.id,
                        str(document.get("model")))  # fmt: skip


def _form(report: Report, shipped: ShippedPreset, document: Document) -> Iterator[Fault]:
    """What prompts are made of; reports of old, and runs of presets of then, name no form."""
    asked = document.get("workload")
    asked = asked if isinstance(asked, dict) else {}
    planned = OWN if asked.get("prompts") else asked.get("form", "synthetic")
    found = report.workload.form if report.workload is not None else None
    if found != planned and (found is not None or (report.arms and not shipped.superseded)):
        yield Fault("workload.form", f"is {found}, the preset plans {planned}", str(found), str(planned))


def _stopping(report: Report, document: Document) -> Iterator[Fault]:
    """When processes were no longer added; nothing of it where the preset plans a number of them."""
    stopping = report.plan.stopping if report.plan is not None else None
    planned = document.get("until_width")
    found: dict[str, Any] = {"until_width": stopping.width if stopping is not None else None}
    if planned is not None and stopping is not None:
        found |= {"most_processes": stopping.most, "budget_s": stopping.budget_s}
    for name, value in found.items():
        wanted = document.get(name, _DEFAULTS[name])
        if value != wanted:
            yield Fault("plan.stopping", f"{name} is {value}, the preset plans {wanted}", str(value), str(wanted))


def _arms(report: Report, document: Document) -> Iterator[Fault]:
    planned = {arm["name"]: arm for arm in document.get("arms", ())}
    arms = {arm.name: arm for arm in report.arms if arm.name not in _ADDED}
    models = report.provenance.models if report.provenance is not None else ()
    ids = {model.weights or "": model.id for model in models if model.role != "verifier"}
    if "arms" in document:
        yield from _names("arms", set(arms), set(planned))
    for name in arms.keys() & planned.keys():
        for field, found, wanted in _settings(arms[name], planned[name], ids):
            if found != wanted:
                yield Fault(f"arms.{name}.{field}", f"is {found}, the preset's is {wanted}", str(found), str(wanted))
    result = report.kv_quant
    if result is not None:
        measured = {arm.name for arm in result.arms}  # refused can be only a runtime's cache, which no preset names
        codecs = {*document.get("codecs", ()), *(one["name"] for one in document.get("mixed", ()))}
        yield from _names("kv_quant.arms", measured & codecs, codecs)


def _names(field: str, found: set[str], planned: set[str]) -> Iterator[Fault]:
    if found != planned:
        gone, more = ", ".join(sorted(planned - found)), ", ".join(sorted(found - planned))
        parts = [f"without {gone}"] * bool(gone) + [f"with {more}"] * bool(more)
        yield Fault(field, f"{' and '.join(parts)}, unlike the preset", gone or more, "those of the preset")


def _settings(arm: Arm, planned: Document, ids: Mapping[str, str]) -> Iterator[tuple[str, object, object]]:
    """What an arm is, and what its preset says of it, where it does; `ids` are the names of weights."""
    kept = arm.restoration
    yield "role", arm.role, planned.get("role")
    yield "engine", arm.engine, planned.get("engine")
    if "label" in planned:
        yield "system_under_test", arm.system_under_test, planned["label"]
    yield "restoration.mode", restoration_of(arm).mode, planned.get("restoration", "none")
    exact = planned.get("exact_layers", [])
    if kept is not None and evicts(arm):
        yield "restoration.sink", kept.sink, planned.get("sink", _DEFAULTS["sink"])
        yield "restoration.window", kept.window, planned.get("window", _DEFAULTS["window"])
        if isinstance(exact, list):
            yield "restoration.exact_layers", list(kept.exact_layers or ()), exact
    drafter = planned.get("drafter") or {}
    kind = DRAFTERS.get(drafter.get("kind", ""))
    name = f"{SHUFFLED if 'shuffle_seed' in drafter else ''}{kind.name}" if kind is not None else None
    yield "drafter.name", arm.drafter.name if arm.drafter is not None else None, name
    for name in ("block_size", "bits", "sure", "dtype", "graph"):
        if name in drafter and arm.drafter is not None:
            yield f"drafter.{name}", getattr(arm.drafter, name), drafter[name]
    if drafter.get("model") in _NAMED and arm.drafter is not None:
        yield "drafter.weights", ids.get(arm.drafter.weights or ""), drafter["model"]
    if planned.get("f_theta") in _NAMED and kept is not None:
        yield "restoration.weights", ids.get(kept.weights or ""), planned["f_theta"]
