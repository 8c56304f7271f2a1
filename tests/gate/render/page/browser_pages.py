"""Pages in a real Chromium: nothing on its console, nothing wider than the window, no word broken, nothing that axe
finds. `nox -s browser` installs what this needs and runs it; by its name no other session collects it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from harness.cli import run
from reports.report import Report, report_bytes
from tests.gate.honest import Setup, honest_code, honest_kv_quant, honest_niah, honest_parity
from tests.gate.honest.conduct import measured_smoke, measured_tests

WIDTHS = (390, 1280, 1920)
PAPER = 1032
"""Pixels of a line on A4 on its side, margins of 1.2 cm left out."""
SYSTEM_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LONGEST_WORD = 24
"""Characters of a word that is never broken; what is longer is a digest or a path."""

OPEN_ALL = "document.querySelectorAll('details').forEach(each => { each.open = true })"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
BROKEN_WORDS = """longest => {
  const broken = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const text = texts.currentNode
    if (text.parentElement.closest('svg')) continue
    for (const word of text.data.matchAll(/[^\\s\\-\\/.,:;=()]+/g)) {
      if (word[0].length > longest) continue
      const range = document.createRange()
      range.setStart(text, word.index)
      range.setEnd(text, word.index + word[0].length)
      if (new Set([...range.getClientRects()].map(place => Math.round(place.top))).size > 1) broken.push(word[0])
    }
  }
  return broken
}"""

SMALL = Setup(samples=3, repeats=1, draft_arms=("dflash", "ngram"))
REPORTS: dict[str, Report] = {
    "code": honest_code(SMALL),
    "niah": honest_niah(Setup(samples=3, repeats=1, suts=("identity", "f_theta"))),
    "parity": honest_parity(),
    "kv_quant": honest_kv_quant(),
    "runtime_smoke": measured_smoke(),
    "platform_tests": measured_tests(),
}
PAGES = (*REPORTS, "broken", "index", "diff")
"""A page of every kind of report, one of a report that breaks rules, a folder's index, and two reports side by side."""


@pytest.fixture(name="browser", scope="module")
def chromium() -> Iterator[Any]:
    with sync_playwright() as playwright:
        fetched = Path(playwright.chromium.executable_path)
        found = str(fetched) if fetched.exists() else next(filter(None, map(shutil.which, SYSTEM_BROWSERS)), None)
        if found is None:
            pytest.skip("no Chromium: `playwright install chromium` fetches one, a system package brings one")
        browser = playwright.chromium.launch(executable_path=found)
        yield browser
        browser.close()


@pytest.fixture(name="site", scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every page, made by the commands that make them."""
    folder, site = tmp_path_factory.mktemp("reports"), tmp_path_factory.mktemp("site")
    for name, report in REPORTS.items():
        (folder / f"{name}.json").write_bytes(report_bytes(report))
    claims = tuple(claim.replace(value=50.0) for claim in REPORTS["code"].claims)
    (folder / "broken.json").write_bytes(report_bytes(REPORTS["code"].replace(claims=claims)))
    assert run(["report", "html", str(folder), "--out", str(site)]) == 0
    both = [str(folder / f"{name}.json") for name in ("code", "niah")]
    assert run(["report", "diff", *both, "--html", str(site / "diff.html")]) == 0
    return site


@pytest.fixture(name="opened")
def opened_page(browser: Any, site: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Any, list[str]]]:
    """A page with all that it folds away unfolded, and what its console says."""
    name, width, scheme = request.param
    (path,) = site.glob(f"{name}.html") if name in ("index", "diff") else site.glob(f"[0-9]*-{name}.html")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    page.evaluate(OPEN_ALL)
    yield page, said
    context.close()


def views(*schemes: str, widths: tuple[int, ...] = WIDTHS) -> Any:
    shown = [(name, width, scheme) for name in PAGES for width in widths for scheme in schemes]
    return pytest.mark.parametrize("opened", shown, indirect=True, ids=["-".join(map(str, each)) for each in shown])


@views("light")
def test_a_page_fits_its_window_and_breaks_no_word(opened: tuple[Any, list[str]]) -> None:
    page, said = opened
    assert said == []
    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate(BROKEN_WORDS, LONGEST_WORD) == []


@views("light", "dark")
def test_axe_finds_nothing(opened: tuple[Any, list[str]]) -> None:
    page, said = opened
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found] == []
    assert said == []


@views("light", widths=(PAPER,))
def test_a_page_fits_the_paper_that_it_is_printed_on(opened: tuple[Any, list[str]]) -> None:
    page, said = opened
    page.emulate_media(media="print")
    assert page.evaluate(OVERFLOW) <= 0
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    assert said == []
