"""CPU seconds of `k3 --help` and `k3 gate rules`, beside those of a bare interpreter in the same run.

Neither may take more than 12 of them.
"""

import argparse
import resource
import statistics
import subprocess
import sys

MOST = 12.0
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "k3 --help": ["-c", "from harness.cli import run; raise SystemExit(run(['--help']))"],
    "k3 gate rules": ["-c", "from harness.cli import run; raise SystemExit(run(['gate', 'rules']))"],
}


def cpu_seconds(arguments: list[str]) -> float:
    """User and system CPU seconds of one run of the interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the medians and their ratio to the bare interpreter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    runs = parser.parse_args().runs
    medians = {
        name: statistics.median(cpu_seconds(arguments) for _ in range(runs)) for name, arguments in COMMANDS.items()
    }
    bare = medians["python -c pass"]
    for name, seconds in medians.items():
        print(f"{name:<16} {seconds:.3f} s CPU  {seconds / bare:.1f} of a bare interpreter")
    fine = max(medians.values()) <= MOST * bare
    print(f"{'within' if fine else 'OVER'} {MOST:g} bare interpreters")
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
