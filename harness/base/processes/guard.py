"""Runs one command for another process, and ends it with every process of its group: at its time limit, and when that
process dies, which closes this one's input. A script of its own on the standard library alone."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress


def main() -> None:
    """Run what the first argument says, and print how it ended as JSON."""
    told = json.loads(sys.argv[1])
    with open(told["log"], "ab") as log, open(told["output"] or os.devnull, "wb") as output:
        process = subprocess.Popen(
            told["command"],
            cwd=told["folder"],
            stdin=subprocess.DEVNULL,
            stdout=output if told["output"] else log,
            stderr=log,
            start_new_session=True,
            pass_fds=told["keep"],
        )
    with open(told["group"], "w", encoding="utf-8") as file:
        file.write(str(process.pid))
    threading.Thread(target=_end_with_parent, args=(process.pid,), daemon=True).start()
    timed_out = False
    try:
        process.wait(timeout=told["seconds"])
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        _end(process.pid)
    print(json.dumps({"exit_code": process.wait(), "timed_out": timed_out}))


def _end_with_parent(group: int) -> None:
    os.read(0, 1)
    _end(group)
    os._exit(1)


def _end(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
