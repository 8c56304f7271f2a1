from gate.render.report_header import LIMIT, header_of
from reports.content_digest import content_digest
from reports.records.plan import Texts
from reports.report import Imported, Report
from tests.gate.edits import knowing_text
from tests.gate.honest import honest_code, honest_niah
from tests.gate.render.samples import HOSTILE


def test_a_full_report_tells_where_it_comes_from() -> None:
    told = header_of(honest_niah())
    assert {"report id", "kind", "created", "preset", "commit", "system", "packages", "verifier 0", "seed"} <= set(told)
    assert "argmax agreement" in told["verifier 0"]
    assert told["timed runs"] == "78"


def test_text_is_told_with_its_digest_and_groups_and_weights_with_their_training() -> None:
    report = knowing_text(honest_code(), ("stdlib/a", "stdlib/b"), {"drafter": ("synthetic/a",)})
    assert report.workload is not None
    texts = Texts(name="standard library", documents=2, digest="sha256:" + "1" * 64)
    told = header_of(report.replace(workload=report.workload.replace(form="stdlib", texts=texts)))
    assert (told["form"], told["groups"]) == ("stdlib", "2")
    assert told["texts"] == f"standard library, 2 documents, {texts.digest}"
    assert "trained on 1 groups by made up" in told["drafter 1"]


def test_what_is_not_recorded_is_left_out() -> None:
    report = Report(kind="niah", report_id="x")
    assert header_of(report) == {"report id": "x", "kind": "niah", "digest": content_digest(report)}


def test_an_import_is_marked() -> None:
    imported = Imported(importer="llama-bench", original_digest="sha256:" + "0" * 64, notes=("one", "two"))
    told = header_of(Report(kind="niah", report_id="x", imported=imported))
    assert "nothing is verified" in told["imported"]
    assert told["import notes"] == "one; two"


def test_a_dirty_tree_shows() -> None:
    report = honest_code()
    assert report.provenance is not None
    source = report.provenance.source
    assert source is not None
    for dirty, says in ((True, "(dirty)"), (None, "(unknown whether dirty)")):
        changed = report.provenance.replace(source=source.replace(dirty=dirty))
        assert says in header_of(report.replace(provenance=changed))["commit"]


def test_hostile_text_is_one_bounded_line() -> None:
    report = honest_niah()
    assert report.provenance is not None
    told = header_of(report.replace(provenance=report.provenance.replace(argv=(HOSTILE * 10,))))
    assert all(text.isprintable() and len(text) <= LIMIT for text in told.values())
