"""What `k3 eval` prints: a table of the arms on stderr, the headlines and what is withheld on stdout."""

import json
import sys
from pathlib import Path

from gate.derive import decode_rate, recall
from gate.judge import Judgement
from gate.render.headline import headline_line, withheld_line
from reports.measurement import Arm


def print_judgement(judgement: Judgement, path: Path, json_output: bool) -> None:
    """Print the outcome of a run; with `json_output` one document on stdout and nothing else."""
    if json_output:
        print(json.dumps(_document(judgement, path), indent=1))
        return
    _print_arms(judgement)
    for headline in judgement.headlines:
        print(headline_line(headline))
    for claim in judgement.claims:
        if claim.status == "withheld":
            print(withheld_line(claim))
    for violation in judgement.violations:
        print(f"VIOLATION {violation.code}: {violation.message}")
    print(f"verdict: {judgement.verdict}")
    print(f"report: {path}")


def _document(judgement: Judgement, path: Path) -> dict[str, object]:
    return {
        "report": str(path),
        "verdict": judgement.verdict,
        "violations": [violation.model_dump(exclude_none=True) for violation in judgement.violations],
        "claims": [claim.model_dump() for claim in judgement.claims],
        "headlines": [headline_line(headline) for headline in judgement.headlines],
    }


def _print_arms(judgement: Judgement) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=judgement.report.report_id)
    for column in ("arm", "role", "engine", "restoration", "recall", "decode tok/s", "K/V MB"):
        table.add_column(column, justify="left" if column in ("arm", "role", "engine", "restoration") else "right")
    for arm in judgement.report.arms:
        table.add_row(*_cells(arm))
    Console(file=sys.stderr).print(table)


def _cells(arm: Arm) -> list[str]:
    found = recall(arm)
    rates = sorted(rate for row in arm.measurements if (rate := decode_rate(row)) is not None)
    held = [row.kv_bytes_decode for row in arm.measurements if row.kv_bytes_decode is not None]
    return [
        arm.name,
        arm.role,
        arm.engine,
        arm.restoration.mode if arm.restoration is not None else "",
        f"{found.correct}/{found.total}" if found is not None else "",
        f"{rates[len(rates) // 2]:.1f}" if rates else "",
        f"{max(held) / 1e6:.2f}" if held else "",
    ]
