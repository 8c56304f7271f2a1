"""Who is taken on: the same code and rules as home, the same models, one name a machine."""

from pathlib import Path

from harness.base.provenance import read_host
from harness.plans.preset import NamedModel
from harness.sweep.crew import Crew
from harness.sweep.messages import HeldModel, Proof
from harness.sweep.proof import same_code
from reports.records.provenance import SourceCode
from reports.records.record import digest_of
from tests.harness.sweep.cheap import RULE_SET, SOURCE, Cheap

TINY = NamedModel("verifier", "k3-tiny")
WEIGHTS = digest_of(b"weights")


class Needy(Cheap):
    """A cell that loads a model."""

    def models(self) -> tuple[NamedModel, ...]:
        return (TINY,)


def proof(machine: str = "a", label: str | None = None, **fields: object) -> Proof:
    host = read_host().replace(label=label)
    told = {"machine": digest_of(machine.encode()), "host": host, "source": SOURCE, "rule_set": RULE_SET, "models": ()}
    return Proof.model_validate(told | fields)


def held(**fields: object) -> tuple[HeldModel, ...]:
    return (HeldModel.model_validate({"role": "verifier", "name": "k3-tiny", "weights": WEIGHTS} | fields),)


def crew() -> Crew:
    return Crew(SOURCE, RULE_SET, {})


def test_another_version_or_rule_set_is_kept_out() -> None:
    other = SOURCE.replace(files=digest_of(b"other"))
    assert crew().admit("w", proof(source=other)) == "it runs another version of K3 than home"
    assert crew().admit("w", proof(rule_set=RULE_SET + 1)) == f"its rule set is {RULE_SET + 1}, home's is {RULE_SET}"
    assert crew().admit("w", proof()) is None


def test_one_commit_is_the_same_code_however_it_was_installed() -> None:
    commit = "a" * 40
    checkout = SourceCode(git_commit=commit, dirty=False, version="0.1.0")
    wheel = SourceCode(git_commit=commit, dirty=False, version="0.1.0", files=digest_of(b"files"))
    assert same_code(checkout, wheel)
    assert not same_code(checkout, wheel.replace(dirty=True))
    assert not same_code(checkout, checkout.replace(git_commit="b" * 40))


def test_workers_of_one_machine_are_one_and_two_machines_have_two_names() -> None:
    found = crew()
    assert found.admit("w1", proof("a", "mac")) is None
    assert found.admit("w2", proof("a", "mac")) is None
    assert "another machine is called mac, too" in (found.admit("w3", proof("b", "mac")) or "")
    assert "another worker there calls it mac" in (found.admit("w4", proof("a", "other")) or "")
    (machine,) = found.machines.values()
    assert machine.workers == ["w1", "w2"]
    found.leave("w1")
    assert machine.workers == ["w2"]


def test_a_model_is_the_one_that_home_means_or_the_first_that_is_seen(tmp_path: object) -> None:
    found, cell = crew(), Needy("c", tmp_path)  # type: ignore[arg-type]
    assert found.admit("w1", proof("a", models=held())) is None
    assert found.admit("w2", proof("b", models=held(weights=digest_of(b"other")))) is None
    assert found.admit("w3", proof("c", models=held(weights=None, problem="k3-tiny is not on this machine"))) is None
    assert [one.why_not(cell) for one in found.machines.values()] == [
        None,
        "its k3-tiny is not the model that home means",
        "k3-tiny is not on this machine",
    ]
    assert found.digests == {TINY: (WEIGHTS, None, None)}


def test_cells_that_all_machines_refused_are_hopeless_and_a_machine_that_is_away_may_come_back(tmp_path: Path) -> None:
    found, one, other = crew(), Cheap("one", tmp_path), Cheap("other", tmp_path, machine="b")
    assert not found.refuses([one]), "nobody has come yet"
    found.admit("w1", proof("a", "a"))
    assert not found.refuses([])
    found.machines[digest_of(b"a")].refused.add("one")
    assert found.refuses([one])
    assert not found.refuses([one, other]), "it may run on b alone, which has not come"
    found.admit("w2", proof("b", "b"))
    found.leave("w2")
    assert not found.refuses([one]), "its worker is lost, and may start again"
    found.machines[digest_of(b"b")].refused |= {"one", "other"}
    assert found.refuses([one, other])
