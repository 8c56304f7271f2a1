"""What a report says about itself, flat: a label and one line of text each, in the order people ask for them."""

from collections import Counter
from collections.abc import Iterator

from reports.content_digest import content_digest
from reports.records.plan import PlanInfo, WorkloadInfo
from reports.records.provenance import Host, ModelInfo, Provenance, RunLedger
from reports.report import Report
from reports.untrusted.one_line import one_line

LIMIT = 400


def header_of(report: Report) -> dict[str, str]:
    """Label to text; what the report does not record is left out."""
    return {label: one_line(str(value), LIMIT) for label, value in _all(report) if value not in (None, "", ())}


def summary_of(report: Report) -> dict[str, str]:
    """What a reader asks first, label to text: model, machine, date, preset, and what was changed in the preset."""
    made, preset = report.provenance, report.preset
    host = made.host if made is not None else None
    verifiers = [_named(one) for one in (made.models if made is not None else ()) if one.role == "verifier"]
    facts = {
        "model": "; ".join(verifiers),
        "machine": ", ".join(_machine(host)) if host is not None else "",
        "date": report.created_at.strftime("%Y-%m-%d %H:%M UTC") if report.created_at is not None else "",
        "preset": preset.name if preset is not None else "",
        "overrides": " ".join(preset.overrides) if preset is not None else "",
    }
    return {label: one_line(text, LIMIT) for label, text in facts.items() if text}


def _named(model: ModelInfo) -> str:
    return ", ".join(part for part in (model.id, model.quantisation, model.dtype) if part is not None)


def _machine(host: Host) -> Iterator[str]:
    yield from (part for part in (host.chip, host.os) if part is not None)
    if host.cores is not None:
        yield f"{host.cores} cores"
    if host.memory is not None:
        yield _memory(host.memory)


def _memory(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def _all(report: Report) -> Iterator[tuple[str, object]]:
    yield "report id", report.report_id
    yield "kind", report.kind
    yield "digest", content_digest(report)
    yield "created", report.created_at.isoformat() if report.created_at is not None else None
    if report.imported is not None:
        yield "imported", f"by {report.imported.importer}: nothing in it was measured by K3, nothing is verified"
        yield "original digest", report.imported.original_digest
        yield "import notes", "; ".join(report.imported.notes)
    if report.preset is not None:
        yield "preset", report.preset.name
        yield "preset digest", report.preset.digest
        yield "overrides", " ".join(report.preset.overrides)
        yield "run beside", report.preset.part_of
    if report.provenance is not None:
        yield from _provenance(report.provenance)
    if report.parity is not None and report.parity.recording is not None:
        recording = report.parity.recording
        yield "recorded reference", f"{recording.digest}, made with {recording.made_with}"
    if report.workload is not None:
        yield from _workload(report.workload)
    if report.run_ledger is not None:
        yield "run ledger", _run_ledger(report.run_ledger)
    if report.plan is not None:
        yield from _plan(report.plan)
        yield "warm-ups", _warm_ups(report)


def _warm_ups(report: Report) -> int | None:
    """Rows measured as warm-ups, or what a report of old states of them."""
    stated = report.plan.warmups if report.plan is not None else None
    rows = [len(arm.warm_ups) for arm in report.arms if arm.warm_ups is not None]
    return sum(rows) if rows or stated is None else sum(one.runs for one in stated)


def _workload(workload: WorkloadInfo) -> Iterator[tuple[str, object]]:
    yield "workload", workload.name
    yield "form", workload.form
    if workload.texts is not None:
        texts = workload.texts
        yield "texts", f"{texts.name}, {texts.documents} documents, {texts.digest}"
    yield "seed", workload.seed
    yield "workload digest", workload.digest
    yield "prompt style", workload.prompt_style
    yield "prompts", len(workload.prompts)
    yield "groups", len({prompt.group for prompt in workload.prompts if prompt.group is not None}) or None


def _provenance(provenance: Provenance) -> Iterator[tuple[str, object]]:
    source, host = provenance.source, provenance.host
    if source is not None:
        yield "version", source.version
        dirty = {True: " (dirty)", False: "", None: " (unknown whether dirty)"}[source.dirty]
        yield "commit", f"{source.git_commit}{dirty}" if source.git_commit is not None else None
        yield "installed files", source.files
    yield "arguments", " ".join(provenance.argv or ())
    if host is not None:
        yield "system", f"{host.os}, {host.machine}"
        yield "chip", host.chip
        yield "cores", host.cores
        yield "memory", _memory(host.memory) if host.memory is not None else None
        yield "python", host.python
    yield "device", provenance.device
    yield "blas", provenance.blas
    yield "packages", ", ".join(f"{package.name} {package.version}" for package in provenance.packages or ())
    for number, model in enumerate(provenance.models):
        yield f"{model.role} {number}", _model(model)


def _model(model: ModelInfo) -> str:
    parts = [model.id, model.revision, model.weights, model.architecture, model.quantisation, model.dtype]
    if model.faithfulness is not None:
        agreed = model.faithfulness
        parts.append(f"argmax agreement {agreed.argmax_agreement:g} with {agreed.reference}")
    if model.recipe is not None:
        parts.append(f"trained on {len(model.recipe.groups)} groups by {model.recipe.generator}")
    return ", ".join(part for part in parts if part is not None)


def _run_ledger(ledger: RunLedger) -> str:
    """Which runs came before this one, and how whole the chain is that says so."""
    if ledger.state != "recorded":
        return {"opted_out": "opted out of", "unwritable": "could not be written"}[ledger.state]
    counts = Counter(run.plan for run in ledger.earlier)
    parts = [f"{counts['same']} earlier runs of this plan", f"{counts['alike']} of one that is alike"]
    parts.append(f"{counts['other_code']} by another version of K3")
    parts.append(f"{ledger.unfinished} without a report")
    parts += [f"begun {ledger.begun_at.isoformat()}"] if ledger.begun_at is not None else []
    parts += [f"K3 installed {ledger.installed_at.isoformat()}"] if ledger.installed_at is not None else []
    parts += [f"{ledger.torn} lines torn"] * bool(ledger.torn)
    parts += [f"broken in {ledger.broken} places"] * bool(ledger.broken)
    return ", ".join((*parts, f"{ledger.entries} entries, head {ledger.head}"))


def _plan(plan: PlanInfo) -> Iterator[tuple[str, object]]:
    yield "plan digest", plan.digest
    yield "samples", plan.samples
    yield "repeats", plan.repeats if plan.processes in (None, 1) else f"{plan.repeats} in each process"
    yield "processes", plan.processes
    yield "timed runs", len(plan.order) if plan.order is not None else None
    yield "new tokens at most", plan.max_new_tokens
    yield "prefill chunk", plan.prefill_chunk
    yield "complete", plan.complete
    yield "resumed", len(plan.resumes) or None
    looks = plan.stopping.looks if plan.stopping is not None else ()
    yield "looks", ", ".join(f"{look.decision} after {look.processes}" for look in looks)
