"""Prompts of a parity run again: all blocks after each drawn one, proposed by both runtimes."""

from harness.base.progress import Progress
from harness.plans.parity_plan import ParityPlan
from harness.plans.plan import Plan
from harness.plans.workload import ask, workload_of
from harness.replay.outcome import Again, DrawnRows, Outcome, not_run
from harness.runs.loaded.loading import load_models
from harness.runs.new_report import new_report
from reports.records.conduct.replay import ParityPrompt
from reports.records.plan import PlanInfo
from reports.replays.draw import Drawn
from reports.untrusted.number_of import number_of


def run_again(plan: Plan, drawn: DrawnRows, progress: Progress) -> Again:
    """Every drawn prompt. Raises: as `LoadedModels.parity`, CannotRunError where a runtime is not installed."""
    assert isinstance(plan, ParityPlan)
    preset = plan.preset
    progress(0, len(drawn), f"loading {preset.model}")
    verifier, *others = preset.models()
    loaded = load_models(verifier.name, others)
    workload = workload_of(plan, loaded.text)
    prompts = ask(workload, loaded.text, preset)
    outcomes: dict[Drawn, Outcome] = {}
    asked: dict[int, Drawn] = {}
    for one, original in drawn.items():
        assert isinstance(original, ParityPrompt)
        if original.sample < len(prompts):
            asked[original.sample] = one
        else:
            outcomes[one] = not_run(f"the preset has no sample {original.sample}")
    result = loaded.parity(
        preset,
        [prompts[sample].tokens for sample in asked],
        lambda done: progress(done, len(drawn), f"{number_of(done * preset.blocks, 'block')} compared"),
    )
    for number, (sample, one) in enumerate(asked.items()):
        blocks = tuple(block.replace(sample=sample) for block in result.blocks if block.sample == number)
        outcomes[one] = Outcome(ParityPrompt(sample=sample, blocks=blocks))
    info = PlanInfo(
        samples=preset.samples,
        repeats=1,
        max_new_tokens=preset.blocks * preset.block_size + 1,
        prefill_chunk=preset.prefill_chunk,
        complete=False,
    )
    return Again(new_report(plan, loaded, workload, prompts, info, parity=result), outcomes)
