"""Record which prompts the presets that ship make, so that the gate, which makes none, knows them.

python scripts/record_prompts.py
"""

import json
from importlib import resources
from pathlib import Path

from mlx_lm.utils import load_tokenizer

from harness.models.model_text import ModelText
from harness.models.resolve import locate
from harness.plans.kinds import plan_of
from harness.plans.preset_file import load_preset, preset_names
from harness.plans.workload import workload_of
from reports import planned
from reports.atomic_file import write_atomically
from reports.known_models import KNOWN_MODELS
from reports.planned.prompts import FILE, PlannedPrompts, key_of, shown
from reports.records.constants import SYNTHETIC


def prompts_of(name: str) -> tuple[str, PlannedPrompts] | None:
    """What this preset asks; none of real text, which is that of the interpreter, or of a model that K3 has not."""
    loaded = load_preset(name)
    plan = plan_of(loaded)
    if plan.preset.model not in KNOWN_MODELS or getattr(plan.preset.workload, "form", SYNTHETIC) != SYNTHETIC:
        return None
    if getattr(plan.preset.workload, "prompts", None) is not None:
        return None
    text = ModelText(load_tokenizer(locate(plan.preset.model).folder))
    made: dict[str, list[str]] = {}
    for prompt in workload_of(plan, text).prompts(text):
        made.setdefault(prompt.prompt_set, []).append(shown(prompt.record()))
    sets = {name: tuple(prompts) for name, prompts in made.items()}
    return key_of(name, loaded.digest), PlannedPrompts(model=plan.preset.model, prompts=sets)


def superseded(file: Path) -> dict[str, object]:
    """What is recorded of presets that were superseded since: their reports are held to it still."""
    old = tuple(one.name.removesuffix(".toml") for one in resources.files("presets").joinpath("superseded").iterdir())
    return {key: asked for key, asked in json.loads(file.read_bytes()).items() if key.startswith(old)}


def main() -> None:
    """Write reports/planned/prompts.json."""
    file = Path(planned.__file__).parent / FILE
    found = dict(filter(None, map(prompts_of, preset_names())))
    document = superseded(file) | {key: one.model_dump(mode="json") for key, one in found.items()}
    write_atomically(json.dumps(dict(sorted(document.items())), indent=1).encode() + b"\n", file)
    print(FILE, len(document), "presets")


if __name__ == "__main__":
    main()
