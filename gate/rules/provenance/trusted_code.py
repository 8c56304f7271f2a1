"""Code that came with a model and was allowed to run."""

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding


@evidence_rule(
    "MODEL_CODE_TRUSTED",
    title="A model's own code was allowed to run",
    catches="A model of whose folder something may run code (`model_file`, `auto_map`, a Python file, a pickle, an "
    "adapter), which the command let run with `--trust-code`.",
    why="Code that runs in the process that measures can change every figure, and no figure shows it.",
    fix="Measure a model without code of its own: one that mlx-lm knows, in safetensors.",
    severity="withheld",
    example=Example(
        bad="a verifier whose config.json names a `model_file`, run with --trust-code",
        good="a verifier of an architecture that mlx-lm has, nothing in its folder that runs",
    ),
)
def model_code_trusted(view: ReportView) -> Iterator[Finding]:
    """A model brought code, and it was allowed to run."""
    for model in view.report.provenance.models if view.report.provenance is not None else ():
        if model.code:
            found = ", ".join(model.code)
            message = f"{model.id} ({model.role}) may have run code of its own: {found}"
            yield Finding(message, None, None, "code", found, "nothing that runs")
