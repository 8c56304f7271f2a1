"""Charts: well-formed SVG inside its frame, whatever the values and names."""

import re
from xml.etree import ElementTree

from hypothesis import example, given
from hypothesis import strategies as st

from gate.render.page.chart import HEIGHT, WIDTH, Chart, Point, Series, svg
from gate.render.page.codec_charts import codec_charts
from gate.render.tables.codec_table import summarise_codecs
from tests.gate.honest import Setup, measured_kv_quant

points = st.builds(
    Point,
    st.floats(0.5, 40) | st.floats(1e-300, 1e300),
    st.floats(1e-7, 10) | st.floats(5e-324, 1.7e308),
    st.text(max_size=8),
)
series = st.builds(Series, st.text(max_size=8), st.lists(points, min_size=1, max_size=5).map(tuple), st.booleans())


@given(st.lists(series, min_size=1, max_size=12), st.booleans())
@example([Series("", (Point(1.0, 9.999999999999346e299, ""),), False)], True)
@example([Series("", (Point(1.0, 5e-324, ""),), False)], True)
def test_every_chart_is_one_element_and_stays_in_its_frame(drawn: list[Series], log: bool) -> None:
    text = svg(Chart("<b>a & b</b>", "bits", tuple(drawn), log))
    root = ElementTree.fromstring(text)
    assert root.tag == "svg"
    for circle in root.iter("circle"):
        assert 0 <= float(circle.attrib["cx"]) <= WIDTH
        assert 0 <= float(circle.attrib["cy"]) <= HEIGHT
    for line in root.iter("polyline"):
        for x, y in re.findall(r"([-\d.]+),([-\d.]+)", line.attrib["points"]):
            assert 0 <= float(x) <= WIDTH
            assert 0 <= float(y) <= HEIGHT


def test_nothing_is_drawn_without_points() -> None:
    assert svg(Chart("empty", "x", (), log=True)) == ""


def test_smaller_values_stand_lower() -> None:
    text = svg(Chart("t", "x", (Series("a", (Point(1, 1e-4, "low"), Point(2, 1e-2, "high"))),), log=True))
    low, high, _legend = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', text)
    assert float(low[1]) > float(high[1])
    assert float(low[0]) < float(high[0])


def test_a_codec_run_is_drawn_three_times() -> None:
    result = measured_kv_quant(Setup(samples=2)).kv_quant
    assert result is not None
    drawn = list(codec_charts(summarise_codecs(result)))
    assert [chart.log for chart in drawn] == [True, True, False]
    for chart in drawn:
        text = svg(chart)
        assert "affine4: 4.5" in text
        assert "identity" not in text
        ElementTree.fromstring(text)
