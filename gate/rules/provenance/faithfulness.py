"""Whether the loaded verifier is the model it claims to be, held to a reference implementation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import (
    MAX_LOGIT_GAP,
    MIN_ARGMAX_AGREEMENT,
    MIN_FAITHFULNESS_TOKENS,
    MIN_RUN_AGREEMENT,
    Threshold,
)
from gate.rules.provenance.placeholders import is_given

if TYPE_CHECKING:
    from reports.records.provenance import Faithfulness, ModelInfo

FLOAT32 = "float32"
"""The type in which every verifier is compared with its reference."""

MIN_RUN_TOKENS = Threshold(
    "MIN_RUN_TOKENS",
    64,
    "positions",
    meaning="Positions on which a verifier of another type than float32 must have been compared in that type.",
    source="a choice: twice as many as in float32, since ties differ",
)


@evidence_rule(
    "MODEL_UNFAITHFUL",
    title="The loaded verifier is not the model it claims to be",
    catches="A verifier that was not compared with a reference implementation (another one than MLX), or on too few "
    "tokens, or that differs from it in float32: in the most likely token, or in the logits. A verifier that runs in "
    "another type than float32 must have been compared in that type, too, and choose nearly the same tokens there.",
    why="mlx-lm read a config without its RoPE base: logits off by 14.7, argmax 96 %, and the needle test passed.",
    fix="Run `k3 models verify NAME`, then measure again. If it fails only in its own type, convert it to float32.",
    severity="withheld",
    example=Example(
        bad="argmax agreement 0.961 with the reference, logits off by 14.7 (a wrong RoPE base)",
        good="argmax agreement 1.0, largest logit gap 0.0002",
    ),
    thresholds=(MIN_FAITHFULNESS_TOKENS, MIN_ARGMAX_AGREEMENT, MAX_LOGIT_GAP, MIN_RUN_AGREEMENT, MIN_RUN_TOKENS),
)
def model_unfaithful(view: ReportView) -> Iterator[Finding]:
    """The verifier's logits were not checked, or are wrong."""
    for model in (view.verifier,) if view.verifier is not None and not view.untimed else ():
        checked = model.faithfulness
        if checked is None:
            message = "was not compared with a reference implementation (`k3 models verify`)"
            yield _unfaithful(model, message, "none", "a comparison")
            continue
        if "mlx" in checked.reference.lower() or not is_given(checked.reference):
            yield _unfaithful(
                model, f"was compared with {checked.reference}", checked.reference, "another implementation"
            )
        if checked.tokens < MIN_FAITHFULNESS_TOKENS.value:
            least = f"at least {MIN_FAITHFULNESS_TOKENS.value:g}"
            yield _unfaithful(
                model, f"was compared on {checked.tokens} tokens, {least} are", str(checked.tokens), least
            )
        if checked.argmax_agreement < MIN_ARGMAX_AGREEMENT.value:
            found, least = f"{checked.argmax_agreement:.4g}", f"at least {MIN_ARGMAX_AGREEMENT.value:g}"
            yield _unfaithful(model, f"agrees with {checked.reference} on {found} of the tokens; {least}", found, least)
        if not 0 <= checked.largest_logit_gap <= MAX_LOGIT_GAP.value:
            found, most = f"{checked.largest_logit_gap:.4g}", f"0 to {MAX_LOGIT_GAP.value:g}"
            yield _unfaithful(model, f"has logits {found} off those of {checked.reference}; {most}", found, most)
        yield from _unfaithful_as_run(model, checked)


def _unfaithful_as_run(model: ModelInfo, checked: Faithfulness) -> Iterator[Finding]:
    """The type that the verifier's weights (of quantised ones: their scales) have is the one that it runs in."""
    run, own = checked.as_run, model.dtype
    if own not in (None, FLOAT32) and (run is None or run.dtype != own):
        found = run.dtype if run is not None else "none"
        yield _unfaithful(model, f"is {own} and was compared as it runs in {found}", found, str(own))
    if run is None:
        return
    if run.tokens < MIN_RUN_TOKENS.value:
        least = f"at least {MIN_RUN_TOKENS.value:g}"
        message = f"was compared in {run.dtype}, as it runs, on {run.tokens} tokens, {least} are needed"
        yield _unfaithful(model, message, str(run.tokens), least)
    if run.argmax_agreement < MIN_RUN_AGREEMENT.value:
        found, least = f"{run.argmax_agreement:.4g}", f"at least {MIN_RUN_AGREEMENT.value:g}"
        message = f"agrees in {run.dtype}, as it runs, with {checked.reference} on {found} of the tokens; {least}"
        yield _unfaithful(model, message, found, least)


def _unfaithful(model: ModelInfo, message: str, found: str, allowed: str) -> Finding:
    return Finding(f"{model.id}: {message}", field="provenance.models.faithfulness", found=found, allowed=allowed)
