"""Where a report comes from: enough to run it again, on code that exists, with models that are the ones they claim."""

import hashlib
from collections.abc import Iterator, Sequence

from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import WEIGHTLESS_DRAFTERS, ReportView
from gate.rulebook.rule import ALL_METRICS, Example, Finding
from gate.rulebook.thresholds import (
    MAX_LOGIT_GAP,
    MIN_ARGMAX_AGREEMENT,
    MIN_FAITHFULNESS_TOKENS,
    MIN_RUN_AGREEMENT,
    Threshold,
)
from reports.records.claims import Claim
from reports.records.measurement import Arm
from reports.records.provenance import Faithfulness, ModelInfo
from reports.report import Report

DIGESTS_OF_NOTHING = frozenset({f"sha256:{'0' * 64}", f"sha256:{hashlib.sha256().hexdigest()}"})
"""What stands where a digest was forgotten: of no bytes at all, or zeros."""

FLOAT32 = "float32"
"""The type in which every verifier is compared with its reference."""


@evidence_rule(
    "PROVENANCE_MISSING",
    title="The run cannot be repeated from what the report says",
    catches="No source (commit, or version and digest of the installed files), arguments, host, packages, device, "
    "workload generator and seed, or digest, order, warm-ups, budget, chunks and stop rules of the plan.",
    why="A figure that nobody can measure again is an anecdote.",
    fix="Write reports with `k3 eval`; what another tool does not record cannot be cited.",
    severity="withheld",
    example=Example(bad="no commit, no host, no package versions", good="commit, argv, host and packages recorded"),
)
def provenance_missing(view: ReportView) -> Iterator[Finding]:
    """A field needed to repeat the run is absent."""
    lacking = list(_lacking(view.report))
    if lacking:
        message = f"not recorded: {', '.join(lacking)}"
        yield Finding(message, field=lacking[0], found="none", allowed=f"{len(lacking)} fields more")


def _lacking(report: Report) -> Iterator[str]:
    provenance, workload, plan = report.provenance, report.workload, report.plan
    source = provenance.source if provenance is not None else None
    files = source.files if source is not None and source.files not in DIGESTS_OF_NOTHING else None
    wheel = source is not None and source.version is not None and files is not None
    commit = source.git_commit if source is not None and source.git_commit != "0" * 40 else None
    if source is None or (commit is None and not wheel):
        yield "provenance.source"
    host = provenance.host if provenance is not None else None
    facts = {
        "provenance.argv": provenance is not None and any(map(_told, provenance.argv or ())),
        "provenance.host": host is not None and host.python is not None,
        "provenance.packages": provenance is not None and provenance.packages,
        "provenance.device": provenance is not None and _told(provenance.device),
        "created_at": report.created_at,
        "preset": report.preset,
        "workload.generator_version": workload is not None and workload.generator_version is not None,
        "workload.seed": workload is not None and workload.seed is not None,
        "workload.prompts": workload is not None and workload.prompts,
        "plan.digest": plan is not None and plan.digest,
    }
    for name in ("order", "warmups", "stop", "max_new_tokens", "prefill_chunk") if report.arms and plan else ():
        facts[f"plan.{name}"] = getattr(plan, name) is not None
    yield from (field for field, recorded in facts.items() if not recorded)


@claim_rule(
    "IMPORTED_UNVERIFIED",
    title="A claim of another tool's file",
    catches="Any claim of an imported report.",
    why="K3 did not measure it, and reads such files leniently: rounded figures, unknown estimators, uncounted rows.",
    fix="Measure with `k3 eval`. An import is for auditing, not for citing.",
    blocks=ALL_METRICS,
    example=Example(bad="a speed-up in a file of llama-bench", good="the same comparison measured by K3"),
)
def imported_unverified(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The report was made from another tool's file."""
    imported = view.report.imported
    if imported is not None:
        message = f"imported by {imported.importer}; nothing in it was measured by K3"
        yield Finding(message, field="imported", found=imported.importer, allowed="a report of K3's own")


@evidence_rule(
    "DIRTY_TREE",
    title="Measured on code that is in no commit",
    catches="A git commit with uncommitted changes, or without a word on whether there were any.",
    why="The commit names code that did not run; the code that ran is gone.",
    fix="Commit, then measure.",
    severity="withheld",
    example=Example(bad="commit 3f2a... with `dirty` true", good="the same commit, nothing changed beside it"),
)
def dirty_tree(view: ReportView) -> Iterator[Finding]:
    """The tree was dirty, or may have been."""
    provenance = view.report.provenance
    source = provenance.source if provenance is not None else None
    if source is not None and source.git_commit is not None and source.dirty is not False:
        found = "unknown" if source.dirty is None else "true"
        message = f"provenance.source: commit {source.git_commit[:12]}, dirty is {found}"
        yield Finding(message, field="provenance.source.dirty", found=found, allowed="false")


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
    if view.verifier is None:
        yield Finding("provenance.models: no verifier", field="provenance.models", found="0", allowed="1")
    for model in models:
        names = ("weights", "architecture", "dtype", "layer_types") if model.role == "verifier" else ("weights",)
        lacking = [name for name in names if not _told(getattr(model, name))]
        if model.weights in DIGESTS_OF_NOTHING:
            message = f"provenance.models: the weights of {model.id} have the digest of nothing"
            yield Finding(message, field="provenance.models.weights", found=str(model.weights)[:23], allowed="a digest")
        if lacking:
            message = f"provenance.models: {model.role} {model.id} lacks {', '.join(lacking)}"
            yield Finding(message, field=f"provenance.models.{lacking[0]}", found="none", allowed="recorded")
    drafters = {model.weights for model in models if model.role == "drafter"}
    for arm in view.report.arms:
        weights = arm.drafter.weights if arm.drafter is not None else None
        needed = arm.drafter is not None and arm.drafter.name not in WEIGHTLESS_DRAFTERS
        if (needed or weights is not None) and (weights is None or weights not in drafters):
            yield _not_listed(arm.name, "drafter.weights", "drafter", str(weights)[:23], len(drafters))
        yield from _unlisted_projection(view, arm, [model.weights for model in models if model.role == "f_theta"])
    yield from _unused(view, models)
    parity = view.report.parity
    if parity is not None and (parity.drafter_weights is None or parity.drafter_weights not in drafters):
        yield _not_listed(None, "parity.drafter_weights", "drafter", str(parity.drafter_weights)[:23], len(drafters))


def _told(value: object) -> bool:
    """It is there, and not blank."""
    return bool(value.strip()) if isinstance(value, str) else bool(value)


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
    projecting = any(arm.restoration is not None and arm.restoration.mode == "f_theta" for arm in report.arms)
    for model in models if not view.imported else ():
        if (model.role in ("f_theta", "proposer") and not projecting) or (
            model.role == "drafter" and model.weights not in weights
        ):
            message = f"provenance.models: {model.role} {model.id} was loaded, and no arm uses it"
            yield Finding(message, field="provenance.models", found="0 arms", allowed="at least 1")


def _not_listed(arm: str | None, field: str, role: str, found: str, count: int) -> Finding:
    message = f"{arm or 'parity'}: its {role} ({found}) is none of the {count} models of that role in provenance"
    return Finding(message, arm=arm, field=field, found=found, allowed=f"a model of role {role}")


MIN_RUN_TOKENS = Threshold(
    "MIN_RUN_TOKENS",
    64,
    "positions",
    meaning="Positions on which a verifier of another type than float32 must have been compared in that type.",
    source="a choice: twice as many as in float32, since ties differ",
)


@evidence_rule(
    "MODEL_UNFAITHFUL",
    title="The loaded verifier is not the model it claims to be",
    catches="A verifier that was not compared with a reference implementation (MLX is none), on too few tokens, or "
    "that differs from it in argmax or logits, both in float32; or one of another type than float32 that was not "
    "compared in that type as well, or that its type makes another model.",
    why="mlx-lm read a config without its RoPE base: logits off by 14.7, argmax 96 %, and the needle test passed.",
    fix="Run `k3 models verify NAME`, then measure again; where its type is at fault, convert it to float32.",
    severity="withheld",
    example=Example(
        bad="argmax agreement 0.961 with the reference, logits off by 14.7 (a wrong RoPE base)",
        good="argmax agreement 1.0, largest logit gap 0.0002",
    ),
    thresholds=(MIN_FAITHFULNESS_TOKENS, MIN_ARGMAX_AGREEMENT, MAX_LOGIT_GAP, MIN_RUN_AGREEMENT, MIN_RUN_TOKENS),
)
def model_unfaithful(view: ReportView) -> Iterator[Finding]:
    """The verifier's logits were not checked, or are wrong."""
    for model in (view.verifier,) if view.verifier is not None else ():
        checked = model.faithfulness
        if checked is None:
            message = "was not compared with a reference implementation (`k3 models verify`)"
            yield _unfaithful(model, message, "none", "a comparison")
            continue
        if "mlx" in checked.reference.lower() or not _told(checked.reference):
            yield _unfaithful(
                model, f"was compared with {checked.reference}", checked.reference, "another implementation"
            )
        if checked.tokens < MIN_FAITHFULNESS_TOKENS.value:
            least = f"at least {MIN_FAITHFULNESS_TOKENS.value:g}"
            yield _unfaithful(
                model, f"was compared on {checked.tokens} tokens, {least} are", str(checked.tokens), least
            )
        if checked.argmax_agreement < MIN_ARGMAX_AGREEMENT.value:
            found, least = f"{checked.argmax_agreement:.4g}", f"at least {MIN_ARGMAX_AGREEMENT.value:g}"
            yield _unfaithful(model, f"agrees with {checked.reference} on {found} of the tokens; {least}", found, least)
        if not 0 <= checked.largest_logit_gap <= MAX_LOGIT_GAP.value:
            found, most = f"{checked.largest_logit_gap:.4g}", f"0 to {MAX_LOGIT_GAP.value:g}"
            yield _unfaithful(model, f"has logits {found} off those of {checked.reference}; {most}", found, most)
        yield from _unfaithful_as_run(model, checked)


def _unfaithful_as_run(model: ModelInfo, checked: Faithfulness) -> Iterator[Finding]:
    """The type that the verifier's weights (of quantised ones: their scales) have is the one that it runs in."""
    run, own = checked.as_run, model.dtype
    if own not in (None, FLOAT32) and (run is None or run.dtype != own):
        found = run.dtype if run is not None else "none"
        yield _unfaithful(model, f"is {own} and was compared as it runs in {found}", found, str(own))
    if run is None:
        return
    if run.tokens < MIN_RUN_TOKENS.value:
        least = f"at least {MIN_RUN_TOKENS.value:g}"
        message = f"was compared in {run.dtype}, as it runs, on {run.tokens} tokens, {least} are needed"
        yield _unfaithful(model, message, str(run.tokens), least)
    if run.argmax_agreement < MIN_RUN_AGREEMENT.value:
        found, least = f"{run.argmax_agreement:.4g}", f"at least {MIN_RUN_AGREEMENT.value:g}"
        message = f"agrees in {run.dtype}, as it runs, with {checked.reference} on {found} of the tokens; {least}"
        yield _unfaithful(model, message, found, least)


def _unfaithful(model: ModelInfo, message: str, found: str, allowed: str) -> Finding:
    return Finding(f"{model.id}: {message}", field="provenance.models.faithfulness", found=found, allowed=allowed)
