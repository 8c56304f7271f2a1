"""How far apart two logits may be and still be a numerical tie."""

from gate.rulebook.report_view import ReportView
from gate.rulebook.thresholds import NEAR_TIE_GAP, NEAR_TIE_GAP_BFLOAT16, NEAR_TIE_GAP_FLOAT16


def tie_gap(view: ReportView) -> float:
    """The logit gap up to which another argmax is a numerical tie, in the verifier's precision."""
    dtype = view.verifier.dtype if view.verifier is not None else None
    if dtype == "bfloat16":
        return NEAR_TIE_GAP_BFLOAT16.value
    return NEAR_TIE_GAP_FLOAT16.value if dtype == "float16" else NEAR_TIE_GAP.value
