"""Who works for a sweep: the workers that proved themselves, by the machine that they are on."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from harness.plans.preset import NamedModel
from harness.sweep.messages import HeldModel, Proof
from harness.sweep.proof import same_code
from reports.records.provenance import SourceCode

Digests = tuple[str | None, str | None, str | None]
"""Of a model's weights, config and tokenizer."""


class Work(Protocol):
    """What is handed out: a cell of a sweep."""

    @property
    def name(self) -> str:
        """Its own in the sweep."""

    @property
    def machine(self) -> str | None:
        """The label of the only machine that may run it, if there is one."""

    def models(self) -> tuple[NamedModel, ...]:
        """What it loads."""


@dataclass
class Machine:
    """One machine: its workers by address, of which one runs at a time. `free_at` is when it may be asked again, by the
    monotonic clock, and `said` why it was not free."""

    name: str
    label: str | None
    models: dict[NamedModel, str | None]
    workers: list[str] = field(default_factory=list)
    busy: bool = False
    free_at: float = 0.0
    said: str | None = None
    refused: set[str] = field(default_factory=set)

    def why_not(self, cell: Work) -> str | None:
        """Why this machine does not run a cell; None if it may."""
        if cell.machine is not None and cell.machine != self.label:
            return f"it is not {cell.machine}"
        if cell.name in self.refused:
            return "it could not run it"
        problems = (self.models.get(model, f"was not asked for {model.name}") for model in cell.models())
        return next((problem for problem in problems if problem is not None), None)


@dataclass
class Crew:
    """The machines of a sweep. `source` and `rule_set` are home's; `digests` are those that a model must have: home's,
    else those of the first machine that has it."""

    source: SourceCode
    rule_set: int
    digests: dict[NamedModel, Digests]
    machines: dict[str, Machine] = field(default_factory=dict)

    def admit(self, address: str, proof: Proof) -> str | None:
        """Take a worker on; what keeps it out, if something does."""
        if proof.rule_set != self.rule_set:
            return f"its rule set is {proof.rule_set}, home's is {self.rule_set}"
        if not same_code(proof.source, self.source):
            return "it runs another version of K3 than home"
        known = self.machines.get(proof.machine)
        label = proof.host.label
        if known is None:
            if label is not None and any(machine.label == label for machine in self.machines.values()):
                return f"another machine is called {label}, too: give each a K3_MACHINE of its own"
            known = Machine(label or f"machine {len(self.machines) + 1}", label, self._models(proof.models))
            self.machines[proof.machine] = known
        elif known.label != label:
            return f"it calls its machine {label}, another worker there calls it {known.label}"
        known.workers.append(address)
        return None

    def leave(self, address: str) -> None:
        """A worker is gone. Its machine stays known, so that what it refused is not asked of it again."""
        for machine in self.machines.values():
            if address in machine.workers:
                machine.workers.remove(address)

    def refuses(self, cells: Collection[Work]) -> bool:
        """Each of some cells was refused by every machine that it may run on, of which there are some: waiting changes
        nothing. A machine whose workers are lost is asked again once they are back, so it is waited for."""
        for cell in cells:
            meant = [one for one in self.machines.values() if cell.machine in (None, one.label)]
            if not meant or any(one.why_not(cell) is None for one in meant):
                return False
        return len(cells) > 0

    def _models(self, held: Iterable[HeldModel]) -> dict[NamedModel, str | None]:
        """What is wrong with each model, if something is."""
        return {NamedModel(one.role, one.name): self._problem(one) for one in held}

    def _problem(self, held: HeldModel) -> str | None:
        if held.problem is not None:
            return held.problem
        found = (held.weights, held.config, held.tokenizer)
        expected = self.digests.setdefault(NamedModel(held.role, held.name), found)
        return None if found == expected else f"its {held.name} is not the model that home means"
