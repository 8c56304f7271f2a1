"""Whether the run can be repeated from what the report says: its source, its arguments, the machine, the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import ALL_METRICS, Example, Finding
from gate.rules.provenance.placeholders import DIGESTS_OF_NOTHING, is_given
from reports.records.constants import UNTIMED_KINDS

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.report import Report


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
    needed: dict[str, object] = {
        "provenance.argv": provenance is not None and any(map(is_given, provenance.argv or ())),
        "provenance.host": host is not None and host.python is not None,
        "provenance.packages": provenance is not None and provenance.packages,
        "created_at": report.created_at,
    }
    named = {package.name for package in (provenance.packages or () if provenance is not None else ())}
    if provenance is not None and report.kind not in UNTIMED_KINDS:
        computing = ("torch", "transformers") if provenance.runtime is not None else ("mlx", "mlx-lm")
        needed |= {f"provenance.packages.{name}": name in named for name in computing}
    if report.kind != "platform_tests":
        needed["provenance.device"] = provenance is not None and is_given(provenance.device)
    asked: dict[str, object] = {
        "preset": report.preset,
        "workload.generator_version": workload is not None and workload.generator_version is not None,
        "workload.seed": workload is not None and workload.seed is not None,
        "workload.prompts": workload is not None and workload.prompts,
        "plan.digest": plan is not None and plan.digest,
    }
    needed |= asked if report.kind not in UNTIMED_KINDS else {}
    warm = bool(report.arms) and all(arm.warm_ups is not None for arm in report.arms)
    if report.arms and plan and not warm:  # reports of old state it of the plan
        needed["plan.warmups"] = plan.warmups is not None
    for name in ("order", "stop", "max_new_tokens", "prefill_chunk") if report.arms and plan else ():
        needed[f"plan.{name}"] = getattr(plan, name) is not None
    yield from (field for field, recorded in needed.items() if not recorded)


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
