"""What arms are called, against what their rows did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.liveness import block_count, ran_natively
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, drafts, foreign_peer, plain, restoration_of
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import RESTORATION_S_PER_POSITION
from reports.drafters import DFLASH, SHUFFLED
from reports.engines import ENGINES, NATIVE_BASELINE
from reports.records.constants import NATIVE_BASELINE_LABEL
from reports.restorations import RESTORATIONS

if TYPE_CHECKING:
    from reports.records.measurement import Arm, PromptSet


@evidence_rule(
    "BASELINE_AS_SUT",
    title="The baseline dressed as the system under test",
    catches=f"An arm under test none of whose rows restored or drafted, not labelled `{NATIVE_BASELINE_LABEL}`. "
    "A peer whose engine is another project's and plain need not do either.",
    why="The run that started this gate measured the same native computation twice and called one of them the system.",
    fix=f"Make the engine do what the arm says, or label the arm `{NATIVE_BASELINE_LABEL}`.",
    example=Example(
        bad="an arm that neither restored nor drafted, presented as the system",
        good="the same arm, labelled native_ar_baseline",
    ),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def baseline_as_sut(view: ReportView) -> Iterator[Finding]:
    """No row ran restoration or drafting, yet the arm is not labelled so."""
    for arm in view.under_test:
        another = foreign_peer(view, arm) and plain(arm)  # what it does is no system of ours, and need not be more
        if arm.system_under_test != NATIVE_BASELINE_LABEL and ran_natively(arm) and not another:
            label = arm.system_under_test or "none"
            yield Finding(
                f"{arm.name}: 0 of {len(arm.measurements)} rows restored or drafted, and the arm is labelled {label}; "
                f"a native baseline is labelled {NATIVE_BASELINE_LABEL}",
                arm=arm.name,
                field="system_under_test",
                found=label,
                allowed=NATIVE_BASELINE_LABEL,
            )


@evidence_rule(
    "LABEL_CONTRADICTED",
    title="An arm described as what its rows are not",
    catches=f"An arm labelled `{NATIVE_BASELINE_LABEL}` whose rows restored, evicted or drafted, one without a drafter "
    "whose rows have blocks, one whose decode loop is not that of its rows, an ablated arm that is no control, a "
    "control that controls nothing (not ablated, needle-free or of shuffled drafts), one with round trips to no "
    "server, or one that is named after another role, mode or engine.",
    why="Rules ask what the description calls for: without a drafter no parity, with a baseline's label no control.",
    fix="Describe each arm as the engine that ran it; the runner does.",
    example=Example(bad="labelled native_ar_baseline, and its rows drafted", good="labelled for what its rows did"),
)
def label_contradicted(view: ReportView) -> Iterator[Finding]:
    """What an arm is called and what its rows did do not go together."""
    for arm in view.report.arms:
        native = arm.system_under_test == NATIVE_BASELINE_LABEL or (arm.role in ("oracle", "null"))
        did = {
            "restored": any(row.restored_positions for row in arm.measurements),
            "evicted": any(row.evicted_positions for row in arm.measurements),
            "drafted": any(block_count(row) for row in arm.measurements),
        }
        done = [name for name, happened in did.items() if happened]
        if native and done:
            label = arm.system_under_test or arm.role
            yield _contradicted(arm, "system_under_test", f"labelled {label}, its rows {' and '.join(done)}", label)
        if did["drafted"] and arm.drafter is None:
            yield _contradicted(arm, "drafter", "no drafter, and its rows have blocks", "none")
        others = {row.decode_loop for row in arm.measurements} - {arm.decode_loop, None}
        if arm.decode_loop is not None and others:
            message = f"decode loop {arm.decode_loop}, its rows were decoded with {', '.join(sorted(map(str, others)))}"
            yield _contradicted(arm, "decode_loop", message, arm.decode_loop)
        if arm.served_by is None and any(row.round_trip is not None for row in arm.measurements):
            yield _contradicted(arm, "round_trip", "nobody serves it, and its rows have round trips", "a round trip")
        if not view.imported:
            yield from _misnamed(view, arm)


RESERVED = {"oracle": "oracle", "oracle_again": "null"}
"""Names that K3 gives to the arms of a role."""


def _misnamed(view: ReportView, arm: Arm) -> Iterator[Finding]:
    """A headline names its arm, so the name must not promise what the arm is not."""
    mode = restoration_of(arm).mode
    if mode == "ablate" and arm.role != "control":
        yield _contradicted(arm, "role", f"restores nothing and is no control but of role {arm.role}", arm.role)
    if arm.role == "control" and not _controls(arm, mode):
        message = f"of role control, and neither ablated nor needle-free nor of shuffled drafts (mode {mode})"
        yield _contradicted(arm, "role", message, arm.role)
    roles: list[str] = [one.role for one in view.report.arms]
    free: PromptSet = "needle_free"
    if (arm.name == free) != (arm.prompt_set == free) and [one.prompt_set for one in view.report.arms].count(free) == 1:
        yield _contradicted(arm, "name", f"asked prompts of set {arm.prompt_set}; {free} is the control", arm.name)
    role = next((one for name, one in RESERVED.items() if (arm.name == name) != (arm.role == one)), None)
    if role is not None and roles.count(role) == 1:  # several of a role are another rule's business
        yield _contradicted(
            arm, "name", f"of role {arm.role}; `oracle` is the oracle, `oracle_again` its repeat", arm.name
        )
    spelt = "".join(filter(str.isalnum, arm.name.lower()))
    named = [one for one, kind in RESTORATIONS.items() if kind.evicts and one.replace("_", "") in spelt]
    borrowed = ("oracle" in spelt and arm.role not in ("oracle", "null")) or (
        "native" in spelt and arm.system_under_test != NATIVE_BASELINE_LABEL and arm.engine != NATIVE_BASELINE.name
    )
    dflash, drafting = DFLASH.name, [kind.name for kind in ENGINES.values() if kind.drafts]
    lookup = dflash in spelt and arm.drafter is not None and dflash not in arm.drafter.name
    idle = not drafts(arm) and any(name.replace("-", "") in spelt for name in drafting)
    if (named and mode not in named) or idle or lookup or borrowed:
        yield _contradicted(arm, "name", f"named so, of engine {arm.engine} and mode {mode}", arm.name)


def _controls(arm: Arm, mode: str) -> bool:
    """The arm can fail: nothing is restored, no needle is there, or what is drafted goes through a permutation."""
    shuffled = arm.drafter is not None and arm.drafter.name.startswith(SHUFFLED)
    return mode == "ablate" or arm.prompt_set != "main" or shuffled


def _contradicted(arm: Arm, field: str, message: str, found: str) -> Finding:
    return Finding(f"{arm.name}: {message}", arm.name, None, field, found, "what its rows say")
