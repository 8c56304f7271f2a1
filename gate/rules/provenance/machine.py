"""What a report says of its machine and its packages in several places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Fault, Finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from reports.records.provenance import Host, Provenance
    from reports.report import Report

LEAST_PYTHON = Threshold(
    "LEAST_PYTHON", 11, "minor version of Python 3", meaning="That K3 runs on.", source="pyproject.toml"
)

_MAKERS = ("Apple", "Intel", "AMD")
"""Makers of processors, as they are spelt in the names of theirs."""


@evidence_rule(
    "HOST_CONTRADICTED",
    title="A machine or packages that cannot be together",
    catches="A version of K3 among the packages that is not that of the source, or a BLAS of another version than its "
    "package; a Python on which K3 does not run, or texts of another Python than the machine's; a processor of "
    "Apple's outside macOS and ARM; or a device that is the processor of another maker than the machine's.",
    why="Whoever says that a figure is of another machine edits its name in one place.",
    fix="Let the runner describe the machine and what is installed.",
    severity="withheld",
    since=8,
    example=Example(
        bad="chip `Apple M4 Max`, device `cpu (Intel(R) Xeon(R))`", good="chip and device `Intel(R) Xeon(R)`"
    ),
    thresholds=(LEAST_PYTHON,),
)
def host_contradicted(view: ReportView) -> Iterator[Finding]:
    """The same fact stands in two places, differently."""
    provenance = view.report.provenance
    if provenance is None or view.imported:
        return
    host = _host(provenance.host, provenance.device) if provenance.host is not None else ()
    for field, message, found, allowed in (*_packages(provenance), *host, *_texts(view.report)):
        yield Finding(f"{field}: {message}", field=field, found=found[:80], allowed=allowed[:80])


def _packages(provenance: Provenance) -> Iterator[Fault]:
    versions = {package.name: package.version for package in provenance.packages or ()}
    source, k3 = provenance.source, versions.get("k3")
    if source is not None and source.version is not None and k3 not in (None, source.version):
        message = f"K3 is {source.version}, its package {k3}"
        yield Fault("provenance.source.version", message, source.version, str(k3))
    named = re.search(r"\(([A-Za-z0-9_.-]+) ([0-9][0-9A-Za-z.+-]*)\)$", provenance.blas or "")
    if named is not None and versions.get(named[1], named[2]) != named[2]:
        yield Fault("provenance.blas", f"is of {named[0]}, the package {versions[named[1]]}", named[2], named[1])


def _host(host: Host, device: str | None) -> Iterator[Fault]:
    version = re.match(r"3\.(\d{1,3})\b", host.python or "")
    if host.python is not None and (version is None or int(version[1]) < LEAST_PYTHON.value):
        least = f"3.{LEAST_PYTHON.value} or newer"
        yield Fault("provenance.host.python", f"is {host.python[:40]}, K3 runs on {least}", host.python, least)
    chip, system = host.chip or "", host.os or ""
    if _maker(chip) == "Apple" and (host.machine not in ("arm64", "aarch64") or system.startswith("Windows")):
        message = f"is {chip[:60]} in a machine {host.machine} of {system[:40]}"
        yield Fault("provenance.host.chip", message, chip, "a processor of that machine")
    ours, theirs = _maker(chip), _maker(device or "")
    processor = (device or "").startswith("cpu") or theirs == "Apple"  # a GPU may be of another maker
    if processor and None not in (ours, theirs) and ours != theirs:
        message = f"is {str(device)[:60]!a}, the machine's chip {chip[:60]!a}"
        yield Fault("provenance.device", message, str(device), chip)


def _maker(name: str) -> str | None:
    """Who made a processor of this name; none of one that does not say."""
    return next((one for one in _MAKERS if re.search(rf"\b{one}\b", name)), None)


def _texts(report: Report) -> Iterator[Fault]:
    """Prompts are cut from the standard library of the Python that runs."""
    host = report.provenance.host if report.provenance is not None else None
    texts = report.workload.texts if report.workload is not None else None
    named = re.search(r"CPython (\S+)$", texts.name) if texts is not None else None
    if named is not None and host is not None and host.python not in (None, named[1]):
        message = f"is the {texts.name[:60] if texts else ''}, the machine runs {host.python}"
        yield Fault("workload.texts.name", message, named[1], str(host.python))
