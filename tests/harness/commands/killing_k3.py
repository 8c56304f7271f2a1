"""`k3`, one of whose processes kills the command or itself once so many lines are in the journal,
readings of the machine not counted.

Run as a file: what a measuring process does is changed by the same lines, since it reads them, too.
"""

import os
import signal
import sys
import time

from harness.cli import run
from harness.runs.journal import Journal
from reports.journal import Entry, Read

COMMAND = int(os.environ.setdefault("K3_COMMAND_PROCESS", str(os.getpid())))
"""The process of the command, which its measuring process is told; a run of codecs has no other."""
append = Journal.append


def counted(self: Journal, entry: Entry) -> None:
    append(self, entry)
    if sum(not isinstance(entry, Read) for entry in self.entries) == int(sys.argv[1]):
        os.kill(COMMAND if sys.argv[3] == "command" else os.getpid(), int(sys.argv[2]))
        time.sleep(60)  # until what was killed has ended this one


Journal.append = counted  # type: ignore[method-assign]
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(run(sys.argv[4:]))
