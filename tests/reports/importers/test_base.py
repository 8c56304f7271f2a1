import pytest

from reports.importers.base import Foreign, ForeignFormatError, Source, mark, model_id, parse_foreign, require

SOURCE = Source({}, False, "sha256:" + "0" * 64)


class Shape(Foreign):
    seconds: float
    count: int | None = None


def test_types_are_strict_and_unknown_fields_are_left_alone():
    assert parse_foreign(Shape, {"seconds": 1, "more": {}}).seconds == 1.0
    for value in (
        {"seconds": "1"},
        {"seconds": True},
        {"seconds": float("nan")},
        {"seconds": 1.0, "count": 1.5},
        {"seconds": 1.0, "count": 2.0**60},
        {},
        [],
    ):
        with pytest.raises(ForeignFormatError) as caught:
            parse_foreign(Shape, value)
        assert "\n" not in str(caught.value)


def test_a_count_in_a_table_with_gaps_is_a_count():
    found = parse_foreign(Shape, {"seconds": 2.0, "count": 3.0})
    assert (found.count, type(found.count), type(found.seconds)) == (3, int, float)


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ("z-lab/gemma-4-DFlash", "z-lab/gemma-4-DFlash"),
        ("gemma", "gemma"),
        ("/Users/somebody/models/gemma-4bit", "gemma-4bit"),
        ("/Users/somebody/models/gemma-4bit/", "gemma-4bit"),
        ("C:\\Users\\somebody\\gemma.gguf", "gemma.gguf"),
        ("~/models/gemma", "gemma"),
        ("../gemma", "gemma"),
        ("results/research/f_theta", "f_theta"),
        ("a\nb", "a\\nb"),
        ("/", "unnamed"),
        ("", "unnamed"),
    ],
)
def test_a_model_is_named_without_the_folders_of_a_person(stated, shown):
    assert model_id(stated) == shown


def test_notes_are_one_line_each():
    marked = mark("k3-mac", SOURCE, ["a\nb", "x" * 10_000], kind="k" * 10_000)
    assert marked.notes[0] == "a\\nb"
    assert len(marked.notes[1]) < 300
    assert len(marked.original_kind) == 200


def test_a_contradiction_is_refused():
    require(True, "fine")
    with pytest.raises(ForeignFormatError, match="a: b"):
        require(False, "a: b")
