"""`k3 report diff`: two reports side by side."""

import sys

from harness.commands.report.opening import File, open_report
from reports.untrusted.one_line import one_line


def command(first: File, second: File) -> None:
    """Print what differs between two reports: setting, figures, and what may be said."""
    from gate.render.tables.drawing import write_table
    from gate.render.tables.show import differences, flat

    rows = list(differences(flat(*open_report(first)), flat(*open_report(second))))
    if not rows:
        print("no difference in setting, figures or claims")
        return
    names = (one_line(str(first)), one_line(str(second)))
    write_table(("", *names), rows, sys.stdout, words=3)
