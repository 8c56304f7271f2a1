"""Templates that loop, grow, raise, do not parse or reach for what is not theirs: each ends in a reason, and soon."""

from pathlib import Path

import pytest

from harness.base.errors import ModelError
from harness.models.sandbox import sandbox
from harness.models.sandbox.sandbox import ask

ASKED = [{"role": "user", "content": "What is the code?"}]


def rendered(template: object) -> str:
    return str(ask("render", template=template, messages=ASKED, variables={"bos_token": "<s>"})["text"])


def test_an_honest_template_is_rendered_as_transformers_does() -> None:
    template = "{{ bos_token }}{% for m in messages %}{{ m['role'] | upper }}: {{ m.content | trim }}\n{% endfor %}"
    template += "{% if add_generation_prompt %}{{ {'b': 1} | tojson }}{% endif %}"
    assert rendered(template) == '<s>USER: What is the code?\n{"b": 1}'


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ raise_exception('system first') }}", "TemplateError: system first"),
        ("{% for m in messages %}{{ m", "TemplateSyntaxError"),
        ("{{ ''.__class__.__mro__ }}", "SecurityError"),
        ("{{ cycler.__init__.__globals__.os.system('touch CANARY') }}", "SecurityError"),
        ("{{ self._TemplateReference__context.environment.loader.x }}", "Error"),
        ("{{ messages.append(1) }}", "SecurityError"),
        ("{% include '/etc/passwd' %}", "no loader"),
        ("{{ range(10**12) | list | length }}", "Range too big"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError"),
        ("{{ 'a' * 10**11 }}", "256 MB of memory"),
        ("{{ '%999999999999d' % 1 }}", "256 MB of memory"),
        ("{{ 'x' | center(10**11) }}", "256 MB of memory"),
        ("{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}", "256 MB"),
        ("{{ 'a' * 200000 }}", "makes 200000 characters of 17"),
        ("{{ '\\ud800' }}", "surrogates not allowed"),
        ("{{ messages[9].content.x.y }}", "UndefinedError"),
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        (5, "Error"),
        ({"a": "b"}, "Error"),
    ],
)
def test_a_template_that_does_no_such_thing_says_why_in_one_line(
    template: object, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = tmp_path / "canary"
    if isinstance(template, str):
        template = template.replace("CANARY", str(canary))
    with pytest.raises(ModelError) as caught:
        rendered(template)
    assert reason in str(caught.value)
    assert str(caught.value).isprintable()
    assert not canary.exists()
    assert rendered("{{ bos_token }}") == "<s>"


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{{ ('a' * 9999999) | wordwrap(1) | length }}",
        "{% for i in range(99999) %}{% for j in range(99999) %}{{ i }}{% endfor %}{% endfor %}",
    ],
)
def test_a_template_without_end_is_ended(template: str) -> None:
    with pytest.raises(ModelError, match=r"takes more than 1 s of processor time|256 MB of memory"):
        rendered(template)
    assert rendered("{{ bos_token }}") == "<s>"


def test_who_waits_without_an_answer_is_not_kept_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no time of the processor is taken, the clock ends it; on macOS the memory that is held, too."""
    rendered("{{ bos_token }}")
    monkeypatch.setattr(sandbox, "PATIENCE_S", 0.0)
    with pytest.raises(ModelError, match="too long or too much memory"):
        rendered("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}")


def test_memory_is_watched_where_the_system_does_not_bound_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered("{{ bos_token }}")
    monkeypatch.setattr(sandbox.sys, "platform", "darwin")
    monkeypatch.setattr(sandbox, "OWN_MEMORY", -(2**40))
    with pytest.raises(ModelError, match="too long or too much memory"):
        rendered("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}")
