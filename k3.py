"""K3 from Python: read evidence, judge it, and print only what it carries. `python -m k3` is the `k3` command.

    import k3

    file = k3.check("reports/evidence/demo-code-tiny.json")
    print(file.verdict)
    for headline in file.headlines:
        print(headline.claim.name, headline.claim.value, headline.claim.interval)

Who writes a plug-in (docs/plugins.md) finds here what it is made of: `EngineEntry`, `DrafterEntry`, `Workload`,
`Importer`, `Rule`, and the protocols and records that they need.

What is named in `__all__` is kept stable between versions; whatever else a module of K3 holds may change. Importing it
loads no model library: neither mlx nor torch nor transformers. `Draft`, `DraftCounters`, `Drafter` and `Verifier` are
of MLX, and are loaded when they are first asked for.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gate.judging.batch import Judge
from gate.judging.judge import Headline, JudgedClaim, Judgement, conclude, judge
from gate.judging.judged_file import JudgedFile
from gate.render.sentences import sentences
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding, Rule
from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Engine, Held, Session, SessionCounts, SessionStats
from harness.engines.spec import DrafterSpec, EngineSettings, RestorationSpec
from harness.models.resolve import ResolvedModel
from reports.drafters import DrafterEntry, DrafterKind
from reports.engines import EngineEntry, EngineKind
from reports.importers.base import ForeignFormatError, Importer, Source, mark
from reports.records.claims import BaseClaim
from reports.records.measurement import Arm, DrafterInfo, Measurement, Restoration
from reports.records.plan import PromptRecord, Texts, WorkloadInfo
from reports.records.provenance import ModelInfo, PluginInfo, Provenance
from reports.records.verdict import Violation
from reports.report import Imported, Report, ReportError, load_report, write_report
from workloads.base import Prompt, Tokenizer, Turn, Workload

if TYPE_CHECKING:
    from harness.engines.drafters.base import Draft, DraftCounters, Drafter
    from harness.engines.mlx.verifier.load import Verifier

__all__ = [
    "Arm",
    "BaseClaim",
    "Block",
    "DecodeLimit",
    "Draft",
    "DraftCounters",
    "Drafter",
    "DrafterEntry",
    "DrafterInfo",
    "DrafterKind",
    "DrafterSpec",
    "Engine",
    "EngineEntry",
    "EngineError",
    "EngineKind",
    "EngineSettings",
    "Example",
    "Finding",
    "ForeignFormatError",
    "Headline",
    "Held",
    "Imported",
    "Importer",
    "JudgedClaim",
    "JudgedFile",
    "Judgement",
    "Measurement",
    "ModelInfo",
    "PluginInfo",
    "Prompt",
    "PromptRecord",
    "Provenance",
    "Report",
    "ReportError",
    "ReportView",
    "ResolvedModel",
    "Restoration",
    "RestorationSpec",
    "Rule",
    "Session",
    "SessionCounts",
    "SessionStats",
    "Source",
    "Texts",
    "Tokenizer",
    "Turn",
    "Verifier",
    "Violation",
    "Workload",
    "WorkloadInfo",
    "check",
    "conclude",
    "judge",
    "load",
    "mark",
    "sentences",
    "write",
]

_OF_MLX = {
    "Draft": "harness.engines.drafters.base",
    "DraftCounters": "harness.engines.drafters.base",
    "Drafter": "harness.engines.drafters.base",
    "Verifier": "harness.engines.mlx.verifier.load",
}


def __getattr__(name: str) -> Any:
    """What needs MLX, loaded when it is asked for."""
    if name not in _OF_MLX:
        raise AttributeError(f"module 'k3' has no attribute {name!r}")
    return getattr(importlib.import_module(_OF_MLX[name]), name)


def load(path: str | Path) -> Report:
    """The schema-2 report in a file. It is validated, not judged.

    Raises:
        ReportError: no such file, not JSON, too large, or a field that does not validate.
    """
    return load_report(Path(path))


def check(path: str | Path) -> JudgedFile:
    """What `k3 gate check` says of a file of K3's or of another tool, beside the reports in its folder.

    A drafter's speed counts only with a report of its parity, which is looked for in the same folder. What cannot be
    read is no exception: its verdict is `not_evidence` or `invalid`, and `reason` or a violation says why.
    """
    return Judge().read(Path(path)).judged


def write(report: Report, path: str | Path) -> None:
    """Write a report as K3 does: whole or not at all.

    Raises:
        OSError: the folder is missing or cannot be written.
    """
    write_report(report, Path(path))


if __name__ == "__main__":
    from harness.cli import main

    main()
