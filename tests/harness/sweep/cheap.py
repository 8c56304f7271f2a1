"""Cells that are cheap and still real work, for workers of the real scheduler: they write down what they did."""

import hashlib
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from harness.base.provenance import read_host
from harness.plans.preset import NamedModel
from harness.sweep.messages import Answer, Proof
from harness.sweep.tasks import Tasks
from harness.sweep.work import Made
from reports.records.provenance import SourceCode
from reports.records.record import digest_of

SOURCE = SourceCode(version="0.1.0", files=digest_of(b"cheap"))
RULE_SET = 4


@dataclass(frozen=True)
class Cheap:
    """A cell without a model. `slow` ones wait for the file `go` after they began, unless they began before."""

    name: str
    folder: Path
    machine: str | None = None
    slow: bool = False

    def models(self) -> tuple[NamedModel, ...]:
        return ()

    def asked(self) -> str:
        return json.dumps({"name": self.name, "folder": str(self.folder), "slow": self.slow})


def prove_a_process(question: str) -> str:
    """Every worker process is a machine of its own, called after its process."""
    assert question == "{}"
    host = read_host().replace(label=f"m{os.getpid()}")
    machine = digest_of(str(os.getpid()).encode())
    return Proof(machine=machine, host=host, source=SOURCE, rule_set=RULE_SET, models=()).model_dump_json()


def prove_one_machine(question: str) -> str:
    """All workers are on one machine."""
    host = read_host().replace(label="here")
    return Proof(machine=digest_of(b"here"), host=host, source=SOURCE, rule_set=RULE_SET, models=()).model_dump_json()


def prove_badly(question: str) -> str:
    """A worker of another version."""
    return '{"machine": "other"}'


def work(asked: str) -> Made:
    """Digest the name ten thousand times, and note that and by whom it was done."""
    told = json.loads(asked)
    name, folder = told["name"], Path(told["folder"])
    began = folder / f"{name}.began"
    first = not began.exists()
    with open(began, "a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    while told["slow"] and first and not (folder / "go").exists():
        threading.Event().wait(0.02)
    data = name.encode()
    for _ in range(10_000):
        data = hashlib.sha256(data).digest()
    with open(folder / "ended", "a", encoding="utf-8") as file:
        file.write(f"{name}\n")
    return Answer(outcome="made", seconds=0.01).model_dump_json(), {f"{name}.bin": data}


def work_on_few(asked: str) -> Made:
    """A machine that is not what it was proved to be."""
    return Answer(outcome="unfit", reason="it makes another plan of the cell").model_dump_json(), {}


def work_that_fails(asked: str) -> Made:
    """A run that ends with its one line of what is wrong."""
    return Answer(outcome="failed", reason="k3: no model").model_dump_json(), {}


def stop() -> None:
    """Nothing runs in a process of its own."""


CHEAP = Tasks(prove_a_process, work, stop)
