"""Whether the weights that a claim rests on were trained on text like the prompts', and the words for it.

A drafter accepts, and an f_theta restores, what is like its training text. So a figure holds for such text, unless no
template and no document that the prompts were made from was part of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from gate.rulebook.report_view import ReportView
from reports.records.constants import OWN

if TYPE_CHECKING:
    from reports.records.claims import Claim, InDistribution
    from reports.records.measurement import Arm
    from reports.records.recipe import Recipe

    Recipes = dict[tuple[str, str], Recipe | None]
    """By role and digest of the weights that a claim rests on; no recipe where nobody wrote one down."""

RESTING_ON: dict[str, tuple[str, ...]] = {
    "decode_speedup": ("drafter", "f_theta"),
    "e2e_speedup": ("drafter", "f_theta"),
    "arm_ratio": ("drafter", "f_theta"),
    "acceptance": ("drafter", "f_theta"),
    "restoration_recall": ("f_theta",),
}
"""Metrics that depend on what weights were trained on, and the roles of those. Bytes, and tokens that are the
verifier's own, depend on none."""

_WORST_FIRST: tuple[InDistribution, ...] = ("yes", "unknown", "kind", "no")


def in_distribution(view: ReportView, claim: Claim) -> InDistribution | None:
    """Whether trained weights saw text like the prompts'; where a claim rests on several, the worst of them.

    None where the claim rests on none, and in a report from before prompts knew their groups.
    """
    arm, recipes = view.arms.get(claim.arm), _recipes(view, claim)
    if arm is None or not recipes or all(prompt.group is None for prompt in view.prompts.values()):
        return None
    names = _names(view, arm)
    found = {_seen(recipe, names) for recipe in recipes.values()}
    return next(one for one in _WORST_FIRST if one in found)


def kind_of_text(view: ReportView, claim: Claim) -> str | None:
    """What a headline says of the text; none where the claim rests on no trained weights."""
    recipes = _recipes(view, claim)
    if not recipes:
        return None
    roles = dict.fromkeys(role for role, _ in recipes)
    what = " and ".join(roles)
    who = f"the {what} of {_owners(view, claim)}" if claim.metric == "arm_ratio" else f"its {what}"
    was, it = ("were", "they") if len(roles) > 1 else ("was", "it")
    match in_distribution(view, claim):
        case "yes":
            return f"on text of the kind {who} {was} trained on"
        case "kind":
            return f"on documents {who} never saw, of a kind {it} {was} trained on"
        case "no":
            return f"on kinds of text {who} never saw"
        case "unknown":
            return f"and whether {who} {was} trained on such text is not known"
    return f"and whether {who} {was} trained on such text is not recorded"


def _owners(view: ReportView, claim: Claim) -> str:
    """The arms of a ratio whose weights were trained: one of them, or both."""
    names = [name for name in (claim.arm, claim.baseline) if name in view.arms and any(_weights(view.arms[name]))]
    return names[0] if len(names) == 1 else "both"


def _recipes(view: ReportView, claim: Claim) -> Recipes:
    """The recipes of the weights that the claim rests on; a ratio of two arms rests on those of both."""
    models = view.report.provenance.models if view.report.provenance is not None else ()
    known: dict[tuple[str, str | None], Recipe | None] = {(one.role, one.weights): one.recipe for one in models}
    names = (claim.arm, claim.baseline) if claim.metric == "arm_ratio" else (claim.arm,)
    used = [pair for name in names if name in view.arms for pair in _weights(view.arms[name])]
    return {pair: known.get(pair) for pair in used if pair[0] in RESTING_ON.get(claim.metric, ())}


def _weights(arm: Arm) -> Iterator[tuple[str, str]]:
    """Roles and digests of the trained weights that an arm uses."""
    if arm.drafter is not None and arm.drafter.weights is not None:
        yield "drafter", arm.drafter.weights
    if arm.restoration is not None and arm.restoration.weights is not None:
        yield "f_theta", arm.restoration.weights


def _names(view: ReportView, arm: Arm) -> frozenset[str | None]:
    """The groups, and the forms of questions, of the prompts that the arm was asked."""
    samples = {row.sample for row in arm.measurements}
    prompts = [view.prompts.get((arm.prompt_set, sample)) for sample in samples]
    groups = {prompt.group if prompt is not None else None for prompt in prompts}
    return frozenset(groups | {prompt.question for prompt in prompts if prompt is not None and prompt.question})


def _seen(recipe: Recipe | None, names: Collection[str | None]) -> InDistribution:
    """What weights of the recipe saw of text of these names."""
    groups = frozenset(recipe.groups) if recipe is not None else frozenset()
    if groups & set(names):
        return "yes"
    kinds = {_kind(name) for name in names if name is not None}
    # What a user calls a prompt of their own says nothing of what it is.
    if recipe is None or recipe.unknown or None in names or OWN in kinds:
        return "unknown"
    return "kind" if kinds & set(map(_kind, groups)) else "no"


def _kind(name: str) -> str:
    """The part of kind/name that says what sort of text it is."""
    return name.partition("/")[0]
