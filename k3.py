"""K3 from Python: read evidence, judge it, and print only what it carries. `python -m k3` is the `k3` command.

    import k3

    file = k3.check("reports/evidence/demo-code-tiny.json")
    print(file.verdict)
    for headline in file.headlines:
        print(headline.claim.name, headline.claim.value, headline.claim.interval)

What is named in `__all__` is kept stable between versions; whatever else a module of K3 holds may change. Importing it
loads no model library: neither mlx nor torch nor transformers.
"""

from pathlib import Path

from gate.judging.batch import Judge
from gate.judging.judge import Headline, JudgedClaim, Judgement, conclude, judge
from gate.judging.judged_file import JudgedFile
from gate.render.sentences import sentences
from harness.engines.base import Block, DecodeLimit, Engine, Session
from reports.report import Report, ReportError, load_report, write_report
from workloads.base import Prompt, Tokenizer, Workload

__all__ = [
    "Block",
    "DecodeLimit",
    "Engine",
    "Headline",
    "JudgedClaim",
    "JudgedFile",
    "Judgement",
    "Prompt",
    "Report",
    "ReportError",
    "Session",
    "Tokenizer",
    "Workload",
    "check",
    "conclude",
    "judge",
    "load",
    "sentences",
    "write",
]


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
