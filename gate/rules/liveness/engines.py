"""Engines against what they are: each decodes with a loop of its own, and drafts or restores or does neither."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, drafter_of, evicts, restoration_of
from gate.rulebook.rule import Example, Finding
from reports.drafters import ROUNDINGS
from reports.engines import ENGINES, ORACLE
from reports.restorations import RESTORATIONS

if TYPE_CHECKING:
    from reports.records.conduct.runtime_smoke import RuntimeSmoke
    from reports.records.measurement import Arm


@evidence_rule(
    "ENGINE_CONTRADICTED",
    title="An arm that its engine cannot run",
    catches="An arm whose decode loop, drafter or restoration is not that of its engine, an oracle, its repeat or a "
    f"needle-free control that another engine than `{ORACLE.name}` ran, a drafter rounded to bits that none is, or one "
    "that was sure of drafts whose chances it does not know; or a server that the run started and whose loop, drafter "
    "or restoration is not that of its engine.",
    why="Which rules ask what of an arm hangs on its engine; renamed, a bounded cache passes for the native one.",
    fix="Leave engine and loop as the runner writes them.",
    example=Example(
        bad="engine `incremental`, decoded with `native_step`",
        good="engine `incremental`, decoded with `incremental_step`",
    ),
)
def engine_contradicted(view: ReportView) -> Iterator[Finding]:
    """Engine, loop, drafter and restoration mode do not go together."""
    for arm in view.report.arms if not view.imported else ():
        engine = ENGINES.get(arm.engine)
        alone = arm.role in ("oracle", "null") or arm.prompt_set == "needle_free"
        if alone and arm.engine != ORACLE.name:
            message = f"{arm.name}: ran by engine {arm.engine}; the verifier alone is engine {ORACLE.name}"
            yield Finding(message, arm.name, None, "engine", arm.engine, ORACLE.name)
        yield from _rounded(arm)
        yield from _sure(arm)
        if engine is None:
            continue
        engine = engine.on(view.backend)
        if view.backend not in engine.backends:
            message = f"{arm.name}: engine {arm.engine} does not run on {view.backend}"
            yield Finding(message, arm.name, None, "engine", arm.engine, f"an engine of {view.backend}")
        loops = {arm.decode_loop, *(row.decode_loop for row in arm.measurements)} - {None, engine.decode_loop}
        if loops and arm.role not in ("oracle", "null"):  # SPEEDUP_ORACLE_LOOP says what a wrong one there means
            found = ", ".join(sorted(map(str, loops)))
            message = f"{arm.name}: engine {arm.engine} decodes with {engine.decode_loop}, its rows say {found}"
            yield Finding(message, arm.name, None, "decode_loop", found, engine.decode_loop)
        if (arm.drafter is not None) != engine.drafts:
            found, wanted = ("a drafter", "none") if arm.drafter is not None else ("none", "a drafter")
            message = f"{arm.name}: engine {arm.engine} with {found.replace('none', 'no drafter')}"
            yield Finding(message, arm.name, None, "drafter", found, wanted)
        if not engine.drafts and any(row.speculation is not None for row in arm.measurements):
            message = f"{arm.name}: engine {arm.engine} does not draft, and its rows have speculation"
            yield Finding(message, arm.name, None, "speculation", "blocks", "none")
        mode = restoration_of(arm).mode
        captured = max((row.aux_s or 0.0 for row in arm.measurements), default=0.0)
        if captured > 0 and not engine.drafts and not restoration_of(arm).learned:
            message = (
                f"{arm.name}: {captured:.4g} s of feature capture, which engine {arm.engine} in mode {mode} has not"
            )
            yield Finding(message, arm.name, None, "aux_s", f"{captured:.4g}", "0")
        if evicts(arm) and not engine.bounds:
            message = f"{arm.name}: engine {arm.engine} evicts nothing, and its restoration is {mode}"
            yield Finding(message, arm.name, None, "restoration.mode", mode, "none")
    smoke = view.report.runtime_smoke
    if smoke is not None and smoke.server == "started" and not view.imported:
        yield from _served(smoke)


def _served(smoke: RuntimeSmoke) -> Iterator[Finding]:
    """What a server of ours says of its engine; one that was found at an address may be anybody's."""
    engine, kept = ENGINES.get(smoke.engine or ""), smoke.restoration
    if engine is None:
        return
    loops = {engine.on(backend).decode_loop for backend in engine.backends}
    evicting = kept is not None and RESTORATIONS[kept.mode].evicts
    for field, found, wrong, allowed in (
        ("decode_loop", smoke.decode_loop, smoke.decode_loop not in loops, " or ".join(sorted(loops))),
        ("drafter", smoke.drafter and smoke.drafter.name, (smoke.drafter is not None) != engine.drafts,
         "a drafter" if engine.drafts else "none"),
        ("restoration", kept and kept.mode, engine.bounds if kept is None else evicting and not engine.bounds,
         "that of its engine"),
    ):  # fmt: skip
        if wrong:
            message = f"runtime_smoke.{field}: is {found}, of engine {engine.name}; it must be {allowed}"
            yield Finding(message, None, None, f"runtime_smoke.{field}", str(found), allowed)


def _rounded(arm: Arm) -> Iterator[Finding]:
    """The drafter's weights were rounded as no loader rounds them."""
    drafter, kind = arm.drafter, drafter_of(arm)
    if drafter is None or kind is None or drafter.bits is None:
        return
    if not kind.rounds or drafter.bits not in ROUNDINGS:
        allowed = f"one of {list(ROUNDINGS)}" if kind.rounds else "none"
        message = f"{arm.name}: a drafter of kind {drafter.name} rounded to {drafter.bits} bits; it can be {allowed}"
        yield Finding(message, arm.name, None, "drafter.bits", str(drafter.bits), allowed)


def _sure(arm: Arm) -> Iterator[Finding]:
    """The drafter was told to be sure, and knows no chances or drafts before anything can be looked at."""
    drafter, kind = arm.drafter, drafter_of(arm)
    if drafter is None or kind is None or drafter.sure is None:
        return
    if not kind.doubts or drafter.graph == "single":
        told = f"{drafter.name}, {drafter.graph}"
        message = f"{arm.name}: a drafter sure of {drafter.sure:g}, of {told}; none looks at its drafts there"
        yield Finding(message, arm.name, None, "drafter.sure", str(drafter.sure), "none")
