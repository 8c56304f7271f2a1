import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.ledger.marker import BrokenMarker, Marker, find_markers

BODY = "reports/a.json sha256:0123456789ab /claims/decode_speedup~1fused/value"
COMMENT = f"<!-- k3: {BODY} -->"


def test_a_marker_ties_the_figure_before_it() -> None:
    (marker,) = find_markers(f"# Title\n\nIt decodes **1.62x** {COMMENT} as fast.\n")
    assert isinstance(marker, Marker)
    assert (marker.line, marker.figure.text) == (3, "1.62x")
    assert (marker.path, marker.digest, marker.pointer) == (
        "reports/a.json",
        "0123456789ab",
        "/claims/decode_speedup~1fused/value",
    )


def test_every_marker_of_a_table_row_is_found() -> None:
    found = list(find_markers(f"| 1.62x {COMMENT} | 5/5 {COMMENT} |\n"))
    assert [marker.figure.text for marker in found if isinstance(marker, Marker)] == ["1.62x", "5/5"]


def test_a_marker_may_stand_on_lines_of_its_own() -> None:
    (marker,) = find_markers("1.62x\n<!--\nk3: a.json\n  sha256:0123456789ab\n  /x\n-->\n")
    assert isinstance(marker, Marker)
    assert marker.line == 2


@pytest.mark.parametrize(
    "text",
    [
        f"```\n1.62x {COMMENT}\n```\n",
        f"~~~md\n1.62x {COMMENT}\n```\n1.62x {COMMENT}\n~~~\n",
        f"````\n```\n1.62x {COMMENT}\n````\n",
        f"write `1.62x {COMMENT}` so\n",
        f"write ``1.62x ` {COMMENT}`` so\n",
        f"```\n1.62x {COMMENT}\n",
        f"- item\n\n  - ```\n    1.62x {COMMENT}\n    ```\n",
        f"> ```\n> 1.62x {COMMENT}\n> ```\n",
        f"```\r1.62x {COMMENT}\x0b\u2028\r```\r",
        "1.62x <!-- another comment -->\n",
        "1.62x <!-- k30: no -->",
    ],
)
def test_code_and_other_comments_mark_nothing(text: str) -> None:
    assert list(find_markers(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        f"`a stray tick 1.62x {COMMENT}\n",
        f"```\ncode\n```\n1.62x {COMMENT}\n",
        f"``` not a fence ` 1.62x {COMMENT}\n",
        f"    1.62x {COMMENT}\n",
        f"- item\n  ```\n  code\n1.62x {COMMENT}\n",
        f"> ```\n> code\n1.62x {COMMENT}\n",
        f"<!--\n```\n-->\n1.62x {COMMENT}\n",
        f"`tick on one line\n1.62x {COMMENT} and `another\n",
    ],
)
def test_what_only_looks_like_code_hides_no_marker(text: str) -> None:
    assert len(list(find_markers(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"no figure {COMMENT}",
        COMMENT,
        f"1.62x <!-- k3: {BODY.replace('0123456789ab', '0123456789a')} -->",
        f"1.62x <!-- k3: {BODY.replace('0123456789ab', '0123456789AB')} -->",
        f"1.62x <!-- k3: {BODY.replace('sha256:', '')} -->",
        f"1.62x <!-- k3: {BODY.replace('/claims', 'claims')} -->",
        f"1.62x <!-- k3: {BODY} more -->",
        "1.62x <!-- k3: -->",
        "1.62x <!-- k3 -->",
        f"1.62x <!-- k3 {BODY} -->",
        f"1.62x <!-- k3: {BODY} -- >",
        f"1.62x <!-- K3: {BODY} --",
    ],
)
def test_a_marker_that_means_to_be_one_is_never_skipped(text: str) -> None:
    (found,) = find_markers(f"\n{text}\n")
    assert isinstance(found, BrokenMarker)
    assert found.line == 2


@given(st.text(st.sampled_from("`~ \n<!->k3:/x1."), max_size=120))
def test_any_text_can_be_searched(text: str) -> None:
    for found in find_markers(text):
        assert found.line >= 1


def test_hostile_prose_is_searched_in_time_that_grows_with_its_length() -> None:
    """Runs of backticks that nothing closes, and comments that are no markers: each was looked at from each."""
    runs = " ".join("`" * length for length in range(1, 1400))
    assert [found.line for found in find_markers(f"{runs}\n1.62x {COMMENT}\n")] == [2]
    broken = list(find_markers("<!--k3-->\n" * 20_000))
    assert [broken[0].line, broken[-1].line] == [1, 20_000]


@given(st.text(st.sampled_from("`a "), max_size=40))
def test_a_code_span_ends_with_the_next_run_of_backticks_that_is_as_long(line: str) -> None:
    span = re.compile(r"(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)")
    outside = "".join(span.split(line)[::2])
    figures = list(find_markers("x " + line.replace("a", f"1x {COMMENT}")))
    assert len(figures) == outside.count("a")
