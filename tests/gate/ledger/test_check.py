import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.ledger import check
from gate.ledger.check import LONGEST_PROSE, LedgerEntry, check_ledger, exit_code, prose_files
from gate.ledger.pointer import resolve
from gate.render.ledger_text import render_json, render_text
from reports.content_digest import content_digest
from reports.report import Report, report_bytes
from tests.gate.edits import dated, document, set_first_row
from tests.gate.honest import Setup, honest_code, honest_niah

SETUP = Setup(samples=6, repeats=3)


class Repository:
    """A folder with a `.git`, one report, and prose that cites it."""

    def __init__(self, root: Path, report: Report) -> None:
        self.root, self.report = root, report
        (root / ".git").mkdir(parents=True)
        (root / "reports").mkdir()
        (root / "docs").mkdir()
        self.write(report)

    def write(self, report: Report) -> None:
        (self.root / "reports" / "run.json").write_bytes(report_bytes(report))
        self.digest = content_digest(report).removeprefix("sha256:")

    def pointer(self, name: str) -> str:
        return f"/claims/{name.replace('/', '~1')}/value"

    def value(self, name: str) -> float:
        return next(claim.value for claim in self.report.claims if claim.name == name)

    def marked(self, figure: str, pointer: str, path: str = "reports/run.json", digest: str | None = None) -> str:
        return f"It shows {figure} <!-- k3: {path} sha256:{digest or self.digest[:12]} {pointer} --> here.\n"

    def check(self, text: str, name: str = "README.md") -> LedgerEntry:
        (self.root / name).write_text(text)
        (entry,) = check_ledger([self.root / name])
        return entry


@pytest.fixture(name="code")
def code_repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo", honest_code(SETUP))


@pytest.fixture(name="niah")
def niah_repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo", honest_niah(SETUP))


SPEEDUP = "decode_speedup/fused_dflash"


def test_a_figure_that_the_report_carries_holds(code: Repository) -> None:
    text = code.marked(f"{code.value(SPEEDUP):.2f}x", code.pointer(SPEEDUP))
    for name in ("README.md", "docs/results.md"):
        entry = code.check(text, name)
        assert (entry.problem, entry.line) == (None, 1), entry
    assert exit_code([entry]) == 0


def test_a_path_may_be_relative_to_the_prose(code: Repository) -> None:
    text = code.marked(f"{code.value(SPEEDUP):.2f}x", code.pointer(SPEEDUP), path="../reports/run.json")
    assert code.check(text, "docs/results.md").problem is None


def test_shares_are_counted(niah: Repository) -> None:
    pointer = niah.pointer("restoration_recall/identity")
    assert niah.check(niah.marked("6/6", pointer)).problem is None
    assert niah.check(niah.marked("100 %", pointer)).problem is None
    entry = niah.check(niah.marked("8/8", pointer))
    assert entry.problem == "FIGURE_STALE"
    assert "6/6" in entry.message


def test_a_row_can_be_cited_and_an_interval(code: Repository) -> None:
    row = code.report.arms[0].measurements[0]
    assert code.check(code.marked(f"{row.prefill_s:.2f} s", "/arms/0/measurements/0/prefill_s")).problem is None
    interval = code.pointer(SPEEDUP).replace("/value", "/interval")
    claim = next(claim for claim in code.report.claims if claim.name == SPEEDUP)
    assert claim.interval is not None
    low = code.marked(f"{claim.interval.low:.3f}", f"{interval}/low")
    assert code.check(f"The interval begins at {low}").problem is None


@pytest.mark.parametrize("field", ["interval/high", "leave_one_out/1", "end_to_end", "ratio_of_totals", "prompts"])
@pytest.mark.parametrize("unit", ["x", " times", ""])
def test_no_bound_and_no_length_passes_for_a_speed_up(code: Repository, field: str, unit: str) -> None:
    pointer = code.pointer(SPEEDUP).replace("/value", f"/{field}")
    value = resolve(document(code.report), pointer)
    assert code.check(code.marked(f"{value:.3f}{unit}", pointer)).problem == "FIGURE_STALE"


def test_what_is_called_by_its_name_may_be_cited(code: Repository) -> None:
    pointer = code.pointer(SPEEDUP).replace("/value", "/end_to_end")
    value = resolve(document(code.report), pointer)
    assert code.check(f"From end to end it is {code.marked(f'{value:.2f}x', pointer)}").problem is None


def test_only_a_claim_is_shown_as_a_ratio_or_a_share(code: Repository) -> None:
    assert code.check(code.marked("3", "/plan/repeats")).problem is None
    for unit in ("x", " times", " %"):
        assert code.check(code.marked(f"{3 if unit != ' %' else 300}{unit}", "/plan/repeats")).problem == "FIGURE_STALE"


@pytest.mark.parametrize(
    ("figure", "problem"),
    [("2.58x", "FIGURE_STALE"), ("160 %", "FIGURE_STALE"), ("fast", "MARKER_BROKEN")],
)
def test_another_figure_or_unit_is_stale(code: Repository, figure: str, problem: str) -> None:
    assert code.check(code.marked(figure, code.pointer(SPEEDUP))).problem == problem


def test_a_share_is_not_shown_as_a_ratio(niah: Repository) -> None:
    assert niah.check(niah.marked("1.0x", niah.pointer("oracle_recall/oracle"))).problem == "FIGURE_STALE"


def test_the_digest_must_be_of_the_report_as_it_is(code: Repository) -> None:
    text = code.marked(f"{code.value(SPEEDUP):.2f}x", code.pointer(SPEEDUP))
    code.write(set_first_row(code.report, "oracle", peak_bytes=1))
    assert code.check(text).problem == "DIGEST_STALE"


def test_the_digest_is_not_of_white_space_dates_or_judgements(code: Repository) -> None:
    text = code.marked(f"{code.value(SPEEDUP):.2f}x", code.pointer(SPEEDUP))
    later = dated(code.report, datetime(2026, 11, 30, tzinfo=UTC))
    for made in (document(code.report), json.loads(report_bytes(code.report)), document(later)):
        (code.root / "reports" / "run.json").write_text(json.dumps(made, indent=8))
        assert code.check(text).problem is None


def test_a_claim_that_moved_is_found_and_none_is_cited_by_its_number(code: Repository) -> None:
    text = code.marked(f"{code.value(SPEEDUP):.2f}x", code.pointer(SPEEDUP))
    made = document(code.report)
    made["claims"].reverse()
    (code.root / "reports" / "run.json").write_text(json.dumps(made))
    assert code.check(text).problem is None
    number = next(place for place, claim in enumerate(made["claims"]) if claim["name"] == SPEEDUP)
    entry = code.check(code.marked(f"{code.value(SPEEDUP):.2f}x", f"/claims/{number}/value"))
    assert entry.problem == "POINTER_DANGLES"
    assert "by its name" in entry.message


def test_a_withheld_claim_is_not_citable(tmp_path: Path) -> None:
    repository = Repository(tmp_path, honest_niah(Setup(samples=3, repeats=1)))
    name = "decode_speedup/identity"
    entry = repository.check(repository.marked(f"{repository.value(name):.2f}x", repository.pointer(name)))
    assert entry.problem == "NOT_ADMITTED"
    assert exit_code([entry]) == 2


def test_a_doctored_report_is_not_citable(code: Repository) -> None:
    claims = tuple(claim.replace(value=50.0) if claim.name == SPEEDUP else claim for claim in code.report.claims)
    code.write(code.report.replace(claims=claims))
    entry = code.check(code.marked("50x", code.pointer(SPEEDUP)))
    assert entry.problem == "NOT_ADMITTED"
    assert "CLAIM_NOT_REPRODUCIBLE" in entry.message


def test_a_retracted_report_is_not_citable(code: Repository) -> None:
    text = code.marked(f"{code.value(SPEEDUP):.2f}x", code.pointer(SPEEDUP))
    retraction = f'[[retraction]]\nreport_id = "{code.report.report_id}"\nreason = "wrong"\ndate = 2026-11-29\n'
    (code.root / "RETRACTIONS.toml").write_text(retraction)
    entry = code.check(text)
    assert entry.problem == "NOT_ADMITTED"
    assert "RETRACTED" in entry.message


@pytest.mark.parametrize("pointer", ["/claims/99/value", "/claims/0/name", "/claims/0", "/nothing", "/plan/complete"])
def test_a_pointer_to_no_number_dangles(code: Repository, pointer: str) -> None:
    assert code.check(code.marked("1.00", pointer)).problem == "POINTER_DANGLES"


def test_a_stated_figure_is_not_citable(code: Repository) -> None:
    assert code.check(code.marked("1.00", "/arms/0/stated_acceptance")).problem == "NOT_ADMITTED"


@pytest.mark.parametrize(
    "path", ["../outside.json", "/etc/hostname", "reports/../../outside.json", "reports/link.json", "gone.json"]
)
def test_a_marker_leads_nowhere_outside_the_repository(code: Repository, path: str) -> None:
    outside = code.root.parent / "outside.json"
    outside.write_bytes(report_bytes(code.report))
    (code.root / "reports" / "link.json").symlink_to(outside)
    entry = code.check(code.marked("1.6x", code.pointer(SPEEDUP), path=path))
    assert entry.problem == "REPORT_MISSING"


def test_a_report_that_cannot_be_opened_is_unreadable_not_wrong(code: Repository) -> None:
    loop = code.root / "reports" / "loop.json"
    loop.symlink_to(loop)
    entry = code.check(code.marked("1.6x", "/x", path="reports/loop.json"))
    assert entry.problem == "UNREADABLE"
    assert exit_code([entry]) == 3


def test_legacy_and_foreign_files_are_not_citable(code: Repository) -> None:
    path = code.root / "reports" / "old.json"
    path.write_text('{"schema_version": 1, "kind": "niah", "claims": []}')
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    entry = code.check(code.marked("1.6x", "/claims/0/value", path="reports/old.json", digest=digest))
    assert entry.problem == "NOT_ADMITTED"


def test_prose_that_cannot_be_read_is_told_and_the_rest_checked(code: Repository) -> None:
    (code.root / "a.md").write_bytes(b"\xff 1.6x")
    (code.root / "b.md").write_text(code.marked(f"{code.value(SPEEDUP):.2f}x", code.pointer(SPEEDUP)))
    entries = list(check_ledger([code.root / "missing.md", code.root]))
    assert [entry.problem for entry in entries] == ["UNREADABLE", None, "UNREADABLE"]
    assert exit_code(entries) == 3
    text = render_text(entries)
    assert text.splitlines()[-1] == "1 marked figure, 2 problems"
    assert '"line": 1' in render_json(entries)


def test_folders_are_searched_for_markdown(tmp_path: Path) -> None:
    for name in ("a.md", "b/c.MARKDOWN", "b/d.txt", ".hidden/e.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert [path.name for path in prose_files([tmp_path])] == ["a.md", "c.MARKDOWN"]


def test_without_a_repository_the_working_directory_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = honest_code(SETUP)
    data = report_bytes(report)
    (tmp_path / "docs").mkdir()
    (tmp_path / "run.json").write_bytes(data)
    value = next(claim.value for claim in report.claims if claim.name == SPEEDUP)
    text = f"{value:.2f}x <!-- k3: run.json {content_digest(report)} /claims/{SPEEDUP.replace('/', '~1')}/value -->"
    (tmp_path / "docs" / "x.md").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert [entry.problem for entry in check_ledger([Path("docs")])] == [None]


def test_prose_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text("x" * (LONGEST_PROSE + 1))
    (entry,) = check_ledger([tmp_path])
    assert (entry.problem, exit_code([entry])) == ("UNREADABLE", 3)


def test_prose_of_more_marks_than_can_be_followed_is_not_read(
    code: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    prose = code.marked(f"{code.value(SPEEDUP):.2f}x", code.pointer(SPEEDUP)) * 3
    monkeypatch.setattr(check, "MOST_MARKERS", 2)
    entry = code.check(prose)
    assert (entry.problem, entry.message) == ("UNREADABLE", "marks over 2 figures; split it")
