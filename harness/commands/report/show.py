"""`k3 report show`: one report, as the gate judges it."""

import sys

from harness.commands.report.opening import File, open_report
from harness.commands.run.options import Verbose


def command(file: File, verbose: Verbose = False) -> None:
    """Print what may be said of a report, and what was measured.

    And where it comes from.
    """
    from gate.render.tables.show import show

    report, judged = open_report(file)
    show(report, judged, sys.stdout, verbose=verbose)
