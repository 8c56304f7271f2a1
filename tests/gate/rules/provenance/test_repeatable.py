import pytest

from reports.records.provenance import Package, Runtime, SourceCode
from reports.report import Imported
from tests.gate.asking import ask
from tests.gate.edits import set_source
from tests.gate.honest import Setup, honest_niah, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))


@pytest.mark.parametrize("field", ["source", "argv", "host", "packages", "device"])
def test_every_part_of_provenance_is_asked_for(field):
    report = NIAH.replace(provenance=NIAH.provenance.replace(**{field: None}))
    assert [finding.field for finding in ask("PROVENANCE_MISSING", report)] == [f"provenance.{field}"]


def test_a_run_on_pytorch_names_the_packages_that_computed():
    runtime = Runtime(backend="torch", device="cpu", dtype="float32", attention="sdpa", threads=2)
    kept = tuple(one for one in NIAH.provenance.packages if one.name not in ("torch", "transformers"))
    bare = NIAH.provenance.replace(runtime=runtime, packages=kept)
    (finding,) = ask("PROVENANCE_MISSING", NIAH.replace(provenance=bare))
    assert "provenance.packages.torch" in finding.message
    named = (*kept, Package(name="torch", version="2.13.0"), Package(name="transformers", version="5.24.0"))
    assert not ask("PROVENANCE_MISSING", NIAH.replace(provenance=bare.replace(packages=named)))


@pytest.mark.parametrize("field", ["preset", "created_at", "workload", "plan", "provenance"])
def test_every_part_of_the_report_is_asked_for(field):
    assert ask("PROVENANCE_MISSING", NIAH.replace(**{field: None}))


def test_an_installed_version_is_named_by_its_files():
    wheel = SourceCode(version="0.1.0", files="sha256:" + "3" * 64)
    report = NIAH.replace(provenance=NIAH.provenance.replace(source=wheel))
    assert not ask("PROVENANCE_MISSING", report)
    assert not ask("DIRTY_TREE", report)
    assert ask(
        "PROVENANCE_MISSING", NIAH.replace(provenance=NIAH.provenance.replace(source=SourceCode(version="0.1.0")))
    )


@pytest.mark.parametrize(("dirty", "fires"), [(True, True), (None, True), (False, False)])
def test_a_commit_says_whether_its_tree_was_clean(dirty, fires):
    assert bool(ask("DIRTY_TREE", set_source(NIAH, dirty=dirty))) is fires


def test_no_claim_of_an_import_is_verified():
    report = honest_niah(Setup(samples=2, repeats=1))
    claim = report.claims[0]
    assert not ask("IMPORTED_UNVERIFIED", report, claim)
    imported = report.replace(imported=Imported(importer="k3-mac", original_digest="sha256:" + "0" * 64))
    assert [finding.found for finding in ask("IMPORTED_UNVERIFIED", imported, claim)] == ["k3-mac"]
