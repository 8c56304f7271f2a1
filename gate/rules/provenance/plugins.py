"""Code of other packages that took part: it is named with its digest, and what it is is known where it is judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from reports.drafters import SHIPPED as SHIPPED_DRAFTERS
from reports.drafters import SHUFFLED, drafter_named
from reports.engines import ENGINES
from reports.engines import SHIPPED as SHIPPED_ENGINES
from reports.plugins.entry_points import installed, is_plugin_id
from reports.records.constants import SHIPPED_FORMS

if TYPE_CHECKING:
    from reports.records.measurement import Arm

PLUGIN_ABSENT = "PLUGIN_ABSENT"
"""Code of the rule whose finding depends on what is installed where a report is judged."""


@evidence_rule(
    "PLUGIN_UNIDENTIFIED",
    title="Code of another package that nothing identifies",
    catches="An arm whose engine or drafter does not ship with K3, or prompts of a form that does not, where "
    "provenance names no plug-in with the digest of its code.",
    why="An engine is what its code does. Two versions of it under one name are two engines, and the report of one "
    "says nothing of the other.",
    fix="Bring it as a plug-in (docs/plugins.md), so that the run records its package, version and code.",
    severity="withheld",
    since=4,
    example=Example(
        bad="engine `lookahead`, no plug-in in provenance",
        good="engine `lookahead` of a plug-in, with the version and digest of its package",
    ),
)
def plugin_unidentified(view: ReportView) -> Iterator[Finding]:
    """An engine, a drafter or a form of prompts is of another package, and of which is not recorded."""
    if view.imported:
        return
    for arm in view.report.arms:
        names = _identified(view, arm)
        known = arm.engine in ENGINES and arm.engine not in SHIPPED_ENGINES  # what nobody knows, KIND_MISMATCH tells
        if known and ("engines", arm.engine) not in names:
            yield _unidentified(arm.name, "engine", arm.engine)
        if arm.drafter is not None and not any(group == "drafters" for group, _ in names):
            name, runtime = arm.drafter.name.removeprefix(SHUFFLED), arm.drafter.runtime
            if name not in {one.name for one in SHIPPED_DRAFTERS}:
                if drafter_named(name) is not None:  # else PLUGIN_ABSENT tells
                    yield _unidentified(arm.name, "drafter.name", name)
            elif runtime is not None and runtime not in {one.runtime for one in SHIPPED_DRAFTERS if one.name == name}:
                yield _unidentified(arm.name, "drafter.runtime", runtime)
    form = view.report.workload.form if view.report.workload is not None else None
    if form is not None and form not in SHIPPED_FORMS and ("workloads", form) not in _identified(view, None):
        yield _unidentified(None, "workload.form", form)


@evidence_rule(
    PLUGIN_ABSENT,
    title="Judged without the plug-in that it needs",
    catches="A report whose engine, drafter or importer a plug-in brought that is not installed where it is judged.",
    why="What its rows must hold (which loop, whether it drafts, whether its drafter has weights to compare) is told "
    "by the plug-in alone; without it nothing can contradict the report.",
    fix="Install the plug-in that provenance names, and judge again.",
    severity="withheld",
    since=4,
    example=Example(
        bad="engine `lookahead` of a plug-in, on a machine without it", good="the same, with the plug-in installed"
    ),
)
def plugin_absent(view: ReportView) -> Iterator[Finding]:
    """What a plug-in alone can tell is not known here."""
    report = view.report
    name = report.imported.importer if report.imported is not None else ""
    if is_plugin_id(name) and not installed("importers", name):
        yield _absent(None, "imported.importer", f"importer {name}", "importers")
    for arm in report.arms if not view.imported else ():
        if view.engine_absent(arm):
            yield _absent(arm.name, "engine", f"engine {arm.engine}", "engines", ENGINES.problem(arm.engine))
        if arm.drafter is not None and drafter_named(arm.drafter.name) is None:
            yield _absent(arm.name, "drafter.name", f"drafter {arm.drafter.name}", "drafters")


def _identified(view: ReportView, arm: Arm | None) -> set[tuple[str, str]]:
    """Group and name of the plug-ins whose code is told, of the process that ran the arm."""
    return {(plugin.group, plugin.name) for plugin in view.plugins_of(arm) if plugin.code is not None}


def _unidentified(arm: str | None, field: str, found: str) -> Finding:
    where = f"{arm}: " if arm is not None else ""
    message = f"{where}{field} {found} is none that ships, and provenance names no plug-in of it with its code"
    return Finding(message, arm, field=field, found=found, allowed="a plug-in in provenance.plugins")


def _absent(arm: str | None, field: str, what: str, group: str, problem: str | None = None) -> Finding:
    where = f"{arm}: " if arm is not None else ""
    why = problem or f"no plug-in (k3.{group}) that is installed here brings it"
    return Finding(
        f"{where}{what} is not known: {why}", arm, field=field, found=what, allowed="a plug-in installed here"
    )
