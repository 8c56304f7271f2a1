"""What to do about a missing package works from where K3 was installed: it is on no index."""

from pathlib import Path

import harness
from harness.commands.doctor import _needs

ROOT = Path(harness.__file__).parent


def test_no_remedy_asks_an_index_for_k3() -> None:
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "k3[torch]" not in text, path
        assert "pip install k3" not in text, path


def test_doctor_asks_for_torch_only_where_no_logits_are_recorded() -> None:
    needs = {need.command: need for need in _needs({}) if need.needs == "torch"}
    assert "k3 models verify" not in needs
    assert "k3 models verify, of a model without recorded logits" in needs
