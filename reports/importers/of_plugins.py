"""Importers of plug-ins (`k3.importers`), asked about a file that no importer of K3's recognises and that is no report.

Their name, in reports too, is the id of the plug-in. What goes wrong in one is told as a fault of the file that it
was given.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from reports.importers.base import ForeignFormatError, Importer, Source
from reports.plugins.entry_points import Plugin, PluginError, name_fault, of_group
from reports.report import Report
from reports.untrusted.one_line import one_line


def plugin_importer_of(source: Source) -> Importer | None:
    """The plug-in's importer that recognises `source`; one that fails at that does not."""
    for importer in _importers()[0]:
        try:
            if importer.recognises(source) is True:
                return importer
        except (
            Exception,
            SystemExit,
        ):  # another's code may raise anything, and the file may be meant for another importer
            continue
    return None


def importer_problems() -> tuple[str, ...]:
    """What is wrong with the importers of plug-ins that cannot be used, a line each."""
    return _importers()[1]


@cache
def _importers() -> tuple[tuple[Importer, ...], tuple[str, ...]]:
    found: list[Importer] = []
    problems: list[str] = []
    for plugin in of_group("importers"):
        try:
            found.append(_held(plugin))
        except PluginError as error:
            problems.append(str(error))
    return tuple(found), tuple(problems)


def _held(plugin: Plugin) -> Importer:
    importer = plugin.load(Importer)
    if importer.name != plugin.id or name_fault(plugin):
        raise plugin.error(name_fault(plugin) or f"its name is {importer.name!r}; a plug-in's is its id, {plugin.id}")

    def load(source: Source) -> Report:
        try:
            report = importer.load(source)
            faults = list(_faults(report, importer, source))
        except ForeignFormatError:
            raise
        except (Exception, SystemExit) as error:
            raise ForeignFormatError(one_line(str(plugin.error(f"failed: {type(error).__name__}: {error}")))) from error
        if faults:
            raise ForeignFormatError(str(plugin.error(faults[0])))
        return report

    return replace(importer, load=load)


def _faults(report: Report, importer: Importer, source: Source) -> Iterator[str]:
    mark = report.imported if isinstance(report, Report) else None
    if mark is None:
        yield "made no report that is marked as imported"
    elif (mark.importer, mark.original_digest) != (importer.name, source.digest):
        yield "marked the report as another importer's, or as made of another file"
