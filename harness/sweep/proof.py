"""What a worker proves of itself: its machine, the code it runs, the models it holds, and that it is quiet."""

import os
import subprocess
import threading
from pathlib import Path

from harness.base.errors import ModelError
from harness.base.machine.watch import MachineWatch
from harness.base.provenance import read_host, read_source
from harness.models.info import model_info
from harness.models.resolve import resolve
from harness.sweep.messages import HeldModel, Proof, Question, Quiet, WantedModel
from reports.records.provenance import SourceCode
from reports.records.record import digest_of

LOOK_S = 0.25
"""Seconds for which a machine is looked at: 25 ticks of every core."""


def prove(question: Question, rule_set: int) -> Proof:
    """Look at this machine. Reads the weights of every model that is asked for, once a model."""
    return Proof(
        machine=machine_digest(),
        host=read_host(),
        source=read_source(),
        rule_set=rule_set,
        models=tuple(_held(wanted) for wanted in question.models),
    )


def machine_digest() -> str:
    """Of what the kernel calls this start of the machine: the same in every container on it, and on no other."""
    try:
        started = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        told = ["sysctl", "-n", "kern.bootsessionuuid"]
        started = subprocess.run(told, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    return digest_of(started.encode())


def same_code(first: SourceCode, second: SourceCode) -> bool:
    """The same code ran: of one commit without changes, however it was installed; else the same files."""
    if first.git_commit is not None and not first.dirty and not second.dirty:
        return first.git_commit == second.git_commit
    return first == second


def too_busy(quiet: Quiet) -> str | None:
    """Why this machine is not quiet; None if it is."""
    watch = MachineWatch(0)
    threading.Event().wait(LOOK_S)
    reading = watch.reading("after")
    if reading.others is not None:
        return f"other programs keep {reading.others:.0%} of it busy" if reading.others > quiet.others else None
    if reading.load is not None and reading.load > quiet.load * (os.cpu_count() or 1):
        return f"its load is {reading.load:g}"
    return None


def _held(wanted: WantedModel) -> HeldModel:
    try:
        found = model_info(resolve(wanted.name), wanted.role)
    except ModelError as error:
        return HeldModel(role=wanted.role, name=wanted.name, problem=str(error))
    return HeldModel(
        role=wanted.role, name=wanted.name, weights=found.weights, config=found.config, tokenizer=found.tokenizer
    )
