"""A report under judgement, with look-ups that many rules share. Holds no thresholds and judges nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from reports.drafters import DrafterKind, drafter_named
from reports.engines import ENGINES, MLX, Backend, EngineKind
from reports.records.constants import UNTIMED_KINDS
from reports.restorations import RESTORATIONS, RestorationKind

if TYPE_CHECKING:
    from reports.records.measurement import Arm, AuditedStream, Measurement, PromptSet
    from reports.records.plan import PromptRecord
    from reports.records.provenance import ModelInfo, PluginInfo
    from reports.report import Report


RowKey = tuple[int, int, int]
"""Sample, repeat, process."""

Stream = tuple[int, tuple[int, ...] | None]
"""Sample, and the tokens that were emitted for it."""


@dataclass(frozen=True)
class ReportView:
    """A report and its arms by name and role.

    `parity` holds what other judged reports have shown of drafters (`gate.rules.parity.shown_parity.parity_shown`).
    """

    report: Report
    parity: frozenset[str] = frozenset()

    @cached_property
    def memo(self) -> dict[tuple[str, ...], Any]:
        """Figures that several rules derive from the same rows; filled by whoever derives one first."""
        return {}

    @cached_property
    def arms(self) -> dict[str, Arm]:
        """Arms by name (the first of a name; duplicates are the business of a rule)."""
        arms: dict[str, Arm] = {}
        for arm in self.report.arms:
            arms.setdefault(arm.name, arm)
        return arms

    @cached_property
    def backend(self) -> Backend:
        """The library that computed; reports from before there were two do not say that it was MLX."""
        provenance = self.report.provenance
        return provenance.runtime.backend if provenance is not None and provenance.runtime is not None else MLX

    @cached_property
    def oracle(self) -> Arm | None:
        """The first arm of role `oracle`."""
        return next((arm for arm in self.report.arms if arm.role == "oracle"), None)

    @cached_property
    def null(self) -> Arm | None:
        """The oracle run again, the A/A arm."""
        return next((arm for arm in self.report.arms if arm.role == "null"), None)

    @cached_property
    def under_test(self) -> tuple[Arm, ...]:
        """Arms whose performance may be claimed: role `sut` or `peer`."""
        return tuple(arm for arm in self.report.arms if arm.role in ("sut", "peer"))

    @cached_property
    def names_under_test(self) -> frozenset[str]:
        """Names of the arms under test."""
        return frozenset(arm.name for arm in self.under_test)

    @cached_property
    def verifier(self) -> ModelInfo | None:
        """The model whose greedy output is the truth, as provenance describes it."""
        models = self.report.provenance.models if self.report.provenance is not None else ()
        return next((model for model in models if model.role == "verifier"), None)

    @cached_property
    def layers(self) -> int | None:
        """How many layers the verifier has."""
        types = self.verifier.layer_types if self.verifier is not None else None
        return len(types) if types else None

    @cached_property
    def prompts(self) -> dict[tuple[PromptSet, int], PromptRecord]:
        """Prompts of the workload by set and sample."""
        workload = self.report.workload
        return {(prompt.prompt_set, prompt.sample): prompt for prompt in (workload.prompts if workload else ())}

    def audit_of(self, arm: Arm, row: Measurement) -> AuditedStream | None:
        """The audit of the row's stream: its own, or that of a row of the same sample with the same tokens."""
        if id(arm) not in self._audits:
            self._audits[id(arm)] = _audits(arm)
        return self._audits[id(arm)].get((row.sample, row.token_ids))

    @cached_property
    def _audits(self) -> dict[int, dict[Stream, AuditedStream]]:
        return {}

    def groups_of(self, prompt_set: PromptSet) -> dict[int, str]:
        """The group (template, document) of each sample of a set; samples whose group is not recorded are left out."""
        return {
            sample: prompt.group
            for (name, sample), prompt in self.prompts.items()
            if name == prompt_set and prompt.group is not None
        }

    def controls_of(self, arm: Arm) -> tuple[Arm, ...]:
        """The arms with the same engine, exact layers, sink, window and eviction as `arm` and nothing restored.

        The same engine: where its masks let a query see what was evicted, only a control that it ran itself recalls,
        too, and shows it. The drafter may be another one, since it decides no token. What is not recorded is not known
        to be the same.
        """
        wanted = _bounds(arm)
        if wanted is None:
            return ()
        return tuple(
            other
            for other in self.report.arms
            if other.role == "control"
            and other.restoration is not None
            and other.restoration.mode == "ablate"
            and (other.engine, other.prompt_set) == (arm.engine, arm.prompt_set)
            and _bounds(other) == wanted
        )

    def plugins_of(self, arm: Arm | None) -> tuple[PluginInfo, ...]:
        """The plug-ins of the process that ran the arm, as the report tells: a server's own, else those of the run."""
        teller = arm.served_by if arm is not None and arm.served_by is not None else self.report.provenance
        return (teller.plugins if teller is not None else None) or ()

    def engine_absent(self, arm: Arm) -> bool:
        """The arm's engine is one that a plug-in brought to the run, and that is not installed here."""
        if arm.engine in ENGINES:
            return False
        return any((plugin.group, plugin.name) == ("engines", arm.engine) for plugin in self.plugins_of(arm))

    @cached_property
    def untimed(self) -> bool:
        """The report shows how something behaves: no prompt is asked, no arm timed and no row planned."""
        return self.report.kind in UNTIMED_KINDS

    @cached_property
    def imported(self) -> bool:
        """The report was made from another tool's file."""
        return self.report.imported is not None


def row_key(row: Measurement | AuditedStream) -> RowKey:
    """What pairs two rows of different arms, and a row with the audit of its stream."""
    return row.sample, row.repeat, row.process


def engine_of(arm: Arm) -> EngineKind:
    """What the arm's engine is; of an engine that K3 does not know, what the arm says of itself."""
    if arm.engine in ENGINES:
        return ENGINES[arm.engine]
    return EngineKind(arm.engine, arm.decode_loop or "", drafts=arm.drafter is not None, bounds=evicts(arm))


def drafter_of(arm: Arm) -> DrafterKind | None:
    """What the arm's drafter is; of one that K3 does not know, that it has weights, and that its parity is in doubt."""
    if arm.drafter is None:
        return None
    return drafter_named(arm.drafter.name) or DrafterKind(arm.drafter.name, arm.drafter.name)


def restoration_of(arm: Arm) -> RestorationKind:
    """What the arm's mode of restoration does; an arm without a record of one keeps everything."""
    return RESTORATIONS[arm.restoration.mode if arm.restoration is not None else "none"]


def evicts(arm: Arm) -> bool:
    """The arm is configured to drop K/V outside sink + window."""
    return restoration_of(arm).evicts


def restores(arm: Arm) -> bool:
    """The arm is configured to put K/V back at evicted positions."""
    return restoration_of(arm).restores


def drafts(arm: Arm) -> bool:
    """The arm is configured to decode speculatively."""
    return arm.drafter is not None or engine_of(arm).drafts


def drafts_by_model(arm: Arm) -> bool:
    """The arm's drafter is a model: it has weights to be identified by, and K/V of its own beside the verifier's."""
    drafter = drafter_of(arm)
    return drafter is not None and drafter.weights


def told_to_be_sure(arm: Arm) -> bool:
    """The arm's drafter proposes only what it is sure of, and rests where it fails."""
    return arm.drafter is not None and arm.drafter.sure is not None


def chooses(arm: Arm) -> bool:
    """The arm's drafter decides from block to block whom to ask or whether to draft, so what share of its drafts was
    accepted says nothing of it, and the arm carries no claim of acceptance."""
    drafter = drafter_of(arm)
    return drafter is not None and (drafter.chooses or told_to_be_sure(arm))


def lossless(arm: Arm) -> bool:
    """The arm must emit the verifier's own greedy stream: nothing is lost in its cache, whoever drafts."""
    return restoration_of(arm).lossless


def foreign_peer(view: ReportView, arm: Arm) -> bool:
    """The arm runs another project's loop and is presented as a peer, so that nothing of ours rests on it.

    The loop of a plug-in that is not installed here is another's, too; PLUGIN_ABSENT withholds what is claimed of it.
    """
    return arm.role == "peer" and (view.engine_absent(arm) or engine_of(arm).foreign)


def _bounds(arm: Arm) -> tuple[tuple[int, ...], int, int, str] | None:
    """What an arm keeps and drops; none unless all of it is recorded."""
    kept = arm.restoration
    if kept is None or kept.exact_layers is None or kept.sink is None or kept.window is None or kept.eviction is None:
        return None
    return kept.exact_layers, kept.sink, kept.window, kept.eviction


def decode_loops(arm: Arm) -> set[str | None]:
    """The loops that decoded the arm's rows, as each row records; where a row does not, as the arm does."""
    return {row.decode_loop if row.decode_loop is not None else arm.decode_loop for row in arm.measurements} or {None}


def _audits(arm: Arm) -> dict[Stream, AuditedStream]:
    """The first audit of each stream; one of more mismatches than the stream has tokens is no audit of it."""
    streams = arm.stream_audit.streams if arm.stream_audit is not None else ()
    rows: dict[RowKey, set[Stream]] = {}
    for row in arm.measurements if streams else ():
        rows.setdefault(row_key(row), set()).add((row.sample, row.token_ids))
    audits: dict[Stream, AuditedStream] = {}
    for audit in streams:
        for sample, ids in rows.get(row_key(audit), ()):
            if ids is not None and len(audit.mismatches) <= len(ids):
                audits.setdefault((sample, ids), audit)
    return audits


def plain(arm: Arm) -> bool:
    """The arm is configured neither to draft nor to touch the cache."""
    return not drafts(arm) and not evicts(arm)
