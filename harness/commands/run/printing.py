"""What `k3 eval` prints: a table of the arms on stderr, the headlines and what is withheld on stdout."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from gate.judging.judged_file import JudgedFile
from gate.render.headline import headline_line, hint_line, reason_line, withheld_line
from reports.report import Report, load_report
from reports.untrusted.one_line import one_line


def print_outcomes(files: Sequence[JudgedFile], json_output: bool) -> None:
    """Print the outcome of a run, the last of `files`, after those of the runs beside it.

    With `json_output` one document on stdout and nothing else.
    """
    if json_output:
        *beside, own = map(_document, files)
        print(json.dumps(own | {"beside": beside}, indent=1))
        return
    for judged in files:
        _print_outcome(load_report(Path(judged.path)), judged)


def _print_outcome(report: Report, judged: JudgedFile) -> None:
    _print_measured(report, judged)
    for headline in judged.headlines:
        print(headline_line(headline))
    for claim in judged.claims:
        if claim.status == "withheld":
            print(withheld_line(claim))
    for reason in judged.reasons:
        print(f"  {reason_line(reason)}")
    hint = hint_line(judged.claims)
    if hint is not None:
        print(hint)
    for violation in judged.violations:
        print(f"VIOLATION {violation.code}: {one_line(violation.message)}")
    print(f"verdict: {judged.verdict}")
    print(f"report: {judged.path}")


def _document(judged: JudgedFile) -> dict[str, object]:
    return {
        "report": judged.path,
        "verdict": judged.verdict,
        "violations": [violation.model_dump(exclude_none=True) for violation in judged.violations],
        "claims": [claim.model_dump() for claim in judged.claims],
        "reasons": [reason.model_dump() for reason in judged.reasons],
        "headlines": [headline_line(headline) for headline in judged.headlines],
    }


def _print_measured(report: Report, judged: JudgedFile) -> None:
    from gate.render.tables import cells, parity_cells
    from gate.render.tables.arm_summary import summarise
    from gate.render.tables.parity_counts import summarise_parity
    from gate.render.tables.show import write_codecs, write_table

    if report.arms:
        rows = [cells.cells(arm) for arm in summarise(report, judged)]
        write_table(cells.COLUMNS, rows, sys.stderr, words=cells.WORDS)
    if report.parity is not None:
        write_table(
            parity_cells.COLUMNS,
            [parity_cells.row(summarise_parity(report.parity))],
            sys.stderr,
            words=parity_cells.WORDS,
        )
    if report.kv_quant is not None:
        write_codecs(report.kv_quant, judged, sys.stderr)
