"""How busy and how hot the machine was: where `k3 eval` takes the words from."""

from gate.judging.machine import busy_line, machine_line

__all__ = ["busy_line", "machine_line"]
