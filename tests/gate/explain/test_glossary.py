"""The words are explained, found however they are spelled, and used by the documents that need them."""

from pathlib import Path

import pytest

from gate.explain.documents import GLOSSARY
from gate.explain.glossary import find_word, glossary_markdown, words
from harness.cli import run
from reports.engines import ENGINES

ROOT = Path(__file__).resolve().parents[3]


def test_the_document_is_in_step_with_the_words() -> None:
    assert (ROOT / GLOSSARY).read_text(encoding="utf-8") == glossary_markdown(), (
        "run `python -m gate.explain.documents`"
    )


def test_words_are_in_order_and_each_is_explained_once() -> None:
    terms = [word.term.lower() for word in words()]
    assert terms == sorted(terms)
    spellings = [text.lower() for word in words() for text in (word.term, *word.also)]
    assert len(spellings) == len(set(spellings))
    assert all(word.means.endswith(".") for word in words())


@pytest.mark.parametrize(
    "text",
    ["oracle", "arm", "null", "NIAH", "DFlash", "f_theta", "F-Theta", "K/V", "sink", "window", "speculative decoding",
     "drafter", "acceptance", "prefill", "decode", "parity", "needle", "A/A band", "claim", "verdict", "admissible",
     "withheld", "invalid", "in distribution", "coupon", "fused", "ablate", "identity", "sut",
     "engine", "incremental", "process", "sample", "end to end", "rollback", "legacy",
     "role", "repeat", "restoration", "exact layers",
     # what a command is called, and what it prints
     "attest", "envelope", "bridge", "cell", "digest", "doctor", "look", "near tie", "pooled", "plug-in", "provenance",
     "replay", "review", "suite", "rule set", "ledger", "scheduler", "worker", "seed", "session", "smoke", "sweep",
     "workload",
     # what a plan and a run print, and the columns of a page
     "two_phase", "argmax agreement", "logit gap", "held_out", "auditing", "reference", "candidate", "synthetic",
     "stdlib", "native_baseline", "greedy", "token", "tok/s", "stream", "override", "schema", "BLAS", "drift", "JUnit",
     "gRPC",
     "permuted vocabulary", "decode loop", "violation", "faithful", "runtime_smoke", "platform_tests", "shuffled",
     "order", "stopped by", "by position", "committed per block", "leaving one kind out",
     "x oracle here", "entropy", "committed", "K/V MB", "decode ratio", "prefill s"],
)  # fmt: skip
def test_whatever_a_run_prints_is_found(text: str) -> None:
    assert find_word(text) is not None


def test_a_word_that_there_is_not_is_none() -> None:
    assert find_word("") is None
    assert find_word(next(iter(ENGINES)) + "x") is None


def test_a_word_is_explained_like_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "explain", "Oracle"]) == 0
    assert capsys.readouterr().out.startswith("oracle: The plain model")
    assert run(["gate", "explain", "exact", "layers"]) == 0
    assert capsys.readouterr().out.startswith("exact layers: Layers of the model")
    for spelled in ("token identity", "token_identity", "Token-Identity"):
        assert run(["gate", "explain", spelled]) == 0
        assert capsys.readouterr().out.startswith("token_identity: ")
    assert run(["gate", "explain", "speedup", "interval"]) == 0
    assert capsys.readouterr().out.startswith("SPEEDUP_INTERVAL: ")
    assert run(["gate", "explain", "orakle"]) == 64
    assert "did you mean oracle?" in capsys.readouterr().err
    assert run(["gate", "explain", "SPEEDUP_G"]) == 64
    assert "did you mean SPEEDUP_GROUPS?" in capsys.readouterr().err
