"""The report of a run that is about to begin: where it comes from, what is asked, how it is planned."""

from collections.abc import Sequence
from typing import Any

from harness.base.clock import utc_now
from harness.base.provenance import read_provenance
from harness.plans.plan import Plan
from harness.runs.loaded.loaded_models import LoadedModels
from reports.records.plan import PlanInfo, WorkloadInfo, prompts_digest
from reports.report import Report
from workloads.base import Prompt, Workload


def new_report(
    plan: Plan,
    loaded: LoadedModels,
    workload: Workload,
    prompts: Sequence[Prompt],
    info: PlanInfo,
    **contents: Any,
) -> Report:
    """A report of the plan's kind with `contents` (arms, parity, ...), without claims.

    `info` is how the run is planned; its digest is made here, of the preset, all weights and all prompts.
    """
    asked = tuple(prompt.record() for prompt in prompts)
    digest = prompts_digest(asked)
    plan_digest = plan.digest(*(model.weights or "" for model in loaded.models), digest)
    created = utc_now()
    stamp = created.strftime("%Y%m%dT%H%M%SZ")
    return Report(
        kind=plan.preset.kind,
        report_id=f"{plan.preset.name}-{plan_digest[7:19]}-{stamp}",
        created_at=created,
        preset=plan.preset_info(),
        provenance=read_provenance(
            loaded.models, loaded.device, loaded.blas, loaded.blas_threads, plan.preset.plugins(), loaded.runtime()
        ),
        workload=WorkloadInfo(
            name=workload.name,
            form=workload.form,
            texts=workload.texts,
            generator_version=workload.generator_version,
            seed=workload.seed,
            digest=digest,
            prompt_style=workload.style,
            prompts=asked,
        ),
        plan=info.replace(digest=plan_digest),
        **contents,
    )
