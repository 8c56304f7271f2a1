"""The admitted ratios of a report, as pooling takes them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import compared_arms, compared_ratio, pairs_of
from gate.figures.pooling.over_machines import RunRatio, Setting
from gate.figures.pooling.random_effects import Study
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RATIOS
from reports.records.record import digest_of

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.provenance import Host, Provenance
    from reports.report import Report

SEED = "seed="


def run_ratios(report: Report, admitted: Collection[str]) -> Iterator[RunRatio]:
    """The ratios among the `admitted` claims of a report that says which preset ran and on what machine."""
    made, preset = report.provenance, report.preset
    if made is None or made.host is None or preset is None:
        return
    view = ReportView(report)
    settings = tuple(setting for setting in preset.overrides if not setting.startswith(SEED))
    for claim in report.claims:
        if claim.metric not in RATIOS or claim.name not in admitted:
            continue
        study, texts = _study(view, claim)
        if study is not None:
            setting = Setting(preset.name, settings, f"{preset.digest} {_identity(made)}", claim.name)
            yield RunRatio(_clocks(view, claim), setting, machine_name(made.host), study, texts)


def machine_name(host: Host) -> str:
    """What its owner calls a machine; else what it is, so that two that are built alike count as one."""
    if host.label is not None:
        return host.label
    memory = f", {round(host.memory / 2**30)} GiB" if host.memory is not None else ""
    return f"{host.chip or host.machine}, {host.cores or 'unknown'} cores{memory}"


def _clocks(view: ReportView, claim: Claim) -> str:
    """What identifies the run behind a ratio: what the clocks of both arms read. No other run reads the same, and a
    copy whose machine has got another name still does."""
    rows = (row for arm in compared_arms(view, claim) or () for row in arm.measurements)
    return digest_of("\n".join(f"{row.prefill_s} {row.decode_s} {row.e2e_s}" for row in rows).encode())


def _study(view: ReportView, claim: Claim) -> tuple[Study | None, frozenset[str]]:
    """The estimate behind a claim, on the scale of logarithms, and what it is over."""
    found = compared_ratio(view, claim)
    if found is None or not found.estimate.bounded:
        return None, frozenset()
    arm, baseline, estimate = found
    known = view.groups_of(arm.prompt_set)
    digests = {row.sample: row.prompt_digest for row in arm.measurements}
    pairs = pairs_of(view, arm, baseline, claim.metric)
    texts = frozenset(known.get(pair.prompt) or digests.get(pair.prompt) or pair.group for pair in pairs)
    return Study(math.log(estimate.value), estimate.error, estimate.df), texts


def _identity(made: Provenance) -> str:
    """The code that ran and the weights that it ran."""
    source = made.source.model_dump_json() if made.source is not None else ""
    return digest_of("\n".join([source, *(model.weights or model.id for model in made.models)]).encode())[7:19]
