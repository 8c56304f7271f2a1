"""Plug-ins as they are shown: what each is, and why one cannot be used."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.provenance import plugin_info
from reports.plugins.entry_points import Plugin, PluginError, name_fault, plugins


@dataclass(frozen=True)
class PluginState:
    """A plug-in; `problem` is empty where nothing is wrong with it."""

    group: str
    name: str
    distribution: str
    version: str
    code: str | None
    problem: str = ""

    @property
    def line(self) -> str:
        """What it is, and what is wrong."""
        code = self.code[:19] if self.code is not None else "not found"
        problem = f" -> {self.problem}" if self.problem else ""
        return f"k3.{self.group} {self.name}: {self.distribution} {self.version}, code {code}{problem}"


def installed_plugins() -> tuple[PluginState, ...]:
    """Every plug-in that is installed. Each is imported, to see whether it can be used."""
    return tuple(state_of(plugin, _problem(plugin)) for plugin in plugins())


def used_plugins(used: Sequence[Plugin]) -> tuple[PluginState, ...]:
    """Those that a run uses."""
    return tuple(map(state_of, used))


def state_of(plugin: Plugin, problem: str = "") -> PluginState:
    """A plug-in as a report will name it."""
    return PluginState(**plugin_info(plugin).model_dump(), problem=problem)


def _problem(plugin: Plugin) -> str:
    try:
        return name_fault(plugin) or _PROBLEMS[plugin.group](plugin) or ""
    except PluginError as error:
        return str(error)


def _engine(plugin: Plugin) -> str | None:
    from reports.engines import ENGINES, SHIPPED

    usable = plugin.name in ENGINES and plugin.name not in SHIPPED
    return (
        None if usable else ENGINES.problem(plugin.name) or "an engine of this name ships with K3, and is the one used"
    )


def _drafter(plugin: Plugin) -> str | None:
    from reports.drafters import DRAFTERS, SHIPPED

    usable = plugin.name in DRAFTERS and DRAFTERS[plugin.name] not in SHIPPED
    return (
        None if usable else DRAFTERS.problem(plugin.name) or "a drafter of this kind ships with K3, and is the one used"
    )


def _workload(plugin: Plugin) -> str | None:
    from reports.records.constants import SHIPPED_FORMS
    from workloads.plugin_prompts import plugin_prompts

    if plugin.name in SHIPPED_FORMS:
        return "a form of this name ships with K3, and is the one used"
    plugin_prompts(plugin.name, samples=1, seed=0)
    return None


def _importer(plugin: Plugin) -> str | None:
    from reports.importers.of_plugins import importer_problems

    return next((line for line in importer_problems() if f" {plugin.id} " in line), None)


def _rule(plugin: Plugin) -> str | None:
    from gate.judging.plugin_rules import rule_problem

    return rule_problem(plugin)


_PROBLEMS = {"engines": _engine, "drafters": _drafter, "workloads": _workload, "importers": _importer, "rules": _rule}
