"""`k3 models list`: which verifiers there are."""

import json
import sys
from typing import TYPE_CHECKING

from harness.commands.models.printing import Json, as_run, figures

if TYPE_CHECKING:
    from harness.models.listing import ListedModel

COLUMNS = ("name", "state", "size", "architecture", "verified", "note")


def command(json_output: Json = False) -> None:
    """List the known models and whether they are here."""
    from gate.render.tables.drawing import write_table
    from harness.models.listing import list_models

    models = list_models()
    if json_output:
        print(json.dumps([model.model_dump(mode="json", exclude_none=True) for model in models], indent=1))
        return
    write_table(COLUMNS, [_row(model) for model in models], sys.stdout, words=len(COLUMNS))


def _row(model: "ListedModel") -> tuple[str, ...]:
    size = "-" if model.size is None else f"{model.size / 1e6:.0f} MB"
    verified = "-" if model.faithfulness is None else figures(model.faithfulness) + as_run(model.faithfulness)
    return (model.name, model.state, size, model.architecture or "-", verified, model.problem or "")
