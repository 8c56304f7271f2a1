"""A needle in a haystack: oracle twice, systems under test, an ablated and a needle-free control."""

import random
from collections.abc import Callable
from dataclasses import replace

from reports.engines import ORACLE
from reports.records.measurement import Mismatch, Restoration
from reports.report import Report
from tests.gate.honest.machine import model
from tests.gate.honest.prompts import CODES, prompts_of
from tests.gate.honest.recipes import Recipe, Stream, answer, native, oracles
from tests.gate.honest.runs import assemble
from tests.gate.honest.setup import F_THETA, FEATURE_BYTES, SINK, WINDOW, Setup, digest

_WRONG = ("the north gate", "a paper map", "the stone well", "the small tower", "a long rope", "the empty hall")


def measured_niah(setup: Setup) -> Report:
    """A needle report before judgement."""
    rng = random.Random(f"niah/{setup.seed}")
    answers = [f"{rng.choice(CODES)}-{rng.randint(1000, 9999)}" for _ in range(setup.samples)]
    wrong = [rng.choice(_WRONG) for _ in range(setup.samples)]
    free = [rng.choice(_WRONG) for _ in range(setup.samples)]

    def right(sample: int) -> Stream:
        return answer(answers[sample], correct=True)

    def lost(sample: int) -> Stream:
        return _diverged(answer(wrong[sample], correct=False), right(sample))

    recipes = [
        *oracles(right),
        *(_needle_sut(name, right) for name in setup.suts),
        Recipe("ablate", "control", "incremental", lost, restoration=bounded("ablate")),
        Recipe(
            "needle_free", "control", ORACLE.name, lambda sample: answer(free[sample], correct=False),
            prompt_set="needle_free", repeats=1,
        ),
    ]  # fmt: skip
    prompts = prompts_of(setup, answers, ("main", "needle_free"))
    f_theta = (model("f_theta", F_THETA),) if "f_theta" in setup.suts else ()
    return assemble("niah", setup, recipes, prompts, f_theta, stops=True)


def _needle_sut(name: str, right: Callable[[int], Stream]) -> Recipe:
    if name == "native":
        return native(right)
    if name == "identity":
        mode, label = bounded("identity"), "k3 incremental, identity restoration"
    else:
        mode, label = bounded("f_theta", "transient"), "k3 incremental, f_theta restoration"
    return Recipe(name, "sut", "incremental", right, label=label, restoration=mode, step=1.03)


def bounded(mode: str, residency: str = "resident") -> Restoration:
    return Restoration.model_validate(
        {
            "mode": mode,
            "exact_layers": (),
            "sink": SINK,
            "window": WINDOW,
            "eviction": "strict",
            "residency": residency if mode != "ablate" else None,
            "weights": digest(F_THETA) if mode == "f_theta" else None,
            "feature_bytes": FEATURE_BYTES if mode == "f_theta" and residency == "transient" else None,
        }
    )


def _diverged(stream: Stream, truth: Stream) -> Stream:
    """The stream with the audit of a lossy arm: where the verifier, given the same prefix, would have said else."""
    mismatch = Mismatch(position=0, emitted=stream.token_ids[0], argmax=truth.token_ids[0], gap=3.75)
    return replace(stream, mismatches=(mismatch,))
