"""A reference that was recorded unlocks what a live one does, as long as the recording is the one K3 ships."""

from collections.abc import Callable
from typing import Any

import pytest

from gate.judging.judge import conclude
from gate.render.report_header import header_of
from gate.render.tables.parity_counts import summarise_parity
from gate.rules.parity.recorded_reference import recording_faults
from gate.rules.parity.shown_parity import parity_key, parity_shown
from harness.plans.preset import ParityPreset
from harness.plans.preset_file import load_preset, preset_names
from reports.drafters import RECORDED as RECORDED_KIND
from reports.known_models import KNOWN_MODELS, KNOWN_WEIGHTS
from reports.records.drafter_parity import ParityBlock, ParityResult, Recording
from reports.records.plan import prompts_digest
from reports.records.provenance import Package
from reports.records.recorded_drafts import RecordedDrafts, shipped_recordings
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.honest import Setup, measured_parity

BLOCKS = 8
DIGEST, RECORDED = next((d, one) for d, one in shipped_recordings().items() if one.block_size == BLOCKS)
NOWHERE = "sha256:" + "9" * 64


Drafting = Callable[[int, int, tuple[int, ...]], tuple[int, ...]]
"""What a candidate proposes in a block of a sample, given what was recorded there."""


def blocks_of(
    recorded: RecordedDrafts, drafting: Drafting = lambda sample, block, said: said
) -> tuple[ParityBlock, ...]:
    """The blocks of a run that walks on over what its candidate gets right; by default that is what was recorded."""
    blocks = []
    for sample, stream in enumerate(recorded.streams):
        place = 0
        for number in range(BLOCKS):
            said = stream.proposals[place]
            ours = drafting(sample, number, said)
            context = stream.prompt_tokens + place
            blocks.append(
                ParityBlock(
                    sample=sample, block=number, context_tokens=context, reference_tokens=said, candidate_tokens=ours
                )
            )
            matched = [a == b for a, b in zip(ours, stream.tokens[place + 1 :], strict=False)]
            place += 1 + (*matched, False).index(False)
    return tuple(blocks)


def recorded_parity() -> Report:
    """A parity report whose reference is the recording that ships for k3-tiny."""
    report = measured_parity(Setup(samples=len(RECORDED.streams)))
    assert report.workload is not None
    assert report.provenance is not None
    prompts = tuple(
        prompt.replace(digest=stream.prompt, token_count=stream.prompt_tokens)
        for prompt, stream in zip(report.workload.prompts, RECORDED.streams, strict=True)
    )
    weights = {"verifier": RECORDED.verifier, "drafter": RECORDED.drafter}
    models = tuple(
        model.replace(
            weights=weights[model.role],
            id=name,
            architecture=KNOWN_MODELS[name].architecture,
            layer_types=KNOWN_MODELS[name].layer_types,
            dtype=KNOWN_MODELS[name].dtype,
        )
        for model in report.provenance.models
        for name in (KNOWN_WEIGHTS[weights[model.role]],)
    )
    workload = report.workload.replace(prompts=prompts)
    return report.replace(
        workload=workload.replace(digest=prompts_digest(workload.prompts)),
        provenance=report.provenance.replace(models=models),
        parity=ParityResult(
            drafter_weights=RECORDED.drafter,
            reference_runtime=RECORDED.runtime,
            reference_dtype=RECORDED.dtype,
            recording=Recording(digest=DIGEST, made_with=RECORDED.made_with),
            candidate_runtime="mlx",
            candidate_dtype="float32",
            blocks=blocks_of(RECORDED),
        ),
    )


def edited(**changes: Any) -> Report:
    report = recorded_parity()
    assert report.parity is not None
    return report.replace(parity=report.parity.replace(**changes))


def with_block(number: int, **changes: Any) -> Report:
    blocks = list(blocks_of(RECORDED))
    blocks[number] = blocks[number].replace(**changes)
    return edited(blocks=tuple(blocks))


def test_a_shipped_recording_unlocks_the_runtime_that_was_compared_with_it() -> None:
    report = recorded_parity()
    assert list(recording_faults(report)) == []
    assert parity_shown(report) == {parity_key(RECORDED.drafter, "mlx")}, "PyTorch itself did not run"
    judged = conclude(report)
    assert judged.gate is not None
    assert (judged.gate.verdict, judged.gate.violations) == ("admissible", ())
    assert [(claim.name, claim.status) for claim in judged.claims] == [("drafter_parity/mlx", "admitted")]
    assert judged.parity is not None
    assert summarise_parity(judged.parity).reference == "torch float32, recorded"
    assert header_of(judged)["recorded reference"] == f"{DIGEST}, made with {RECORDED.made_with}"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"recording": Recording(digest=NOWHERE, made_with=RECORDED.made_with)}, "does not ship with K3"),
        ({"recording": Recording(digest=DIGEST, made_with="torch 1.0")}, "made with: the report says torch 1.0"),
        ({"drafter_weights": NOWHERE}, "drafter: the report says sha256:9999"),
        ({"reference_dtype": "bfloat16"}, "dtype: the report says bfloat16"),
        ({"reference_runtime": "jax"}, "runtime: the report says jax"),
    ],
)
def test_a_recording_is_the_one_it_is_said_to_be(changes: dict[str, Any], said: str) -> None:
    report = edited(**changes)
    assert said in ask("PARITY_FAILED", report)[0].message
    assert parity_shown(report) == frozenset()


@pytest.mark.parametrize("packages", [("mlx", "mlx-lm"), ()])
def test_without_its_recording_the_reference_must_have_been_installed(packages: tuple[str, ...]) -> None:
    report = edited(recording=None)
    assert report.provenance is not None
    assert not ask("PARITY_FAILED", report)
    listed = tuple(Package(name=name, version="1") for name in packages)
    bare = report.replace(provenance=report.provenance.replace(packages=listed))
    assert found("PARITY_FAILED", bare) == ["torch"]
    assert parity_shown(bare) == frozenset()


@pytest.mark.parametrize(
    ("name", "overrides", "argv", "fires"),
    [
        ("parity-tiny-dflash", (), ("k3", "eval"), False),
        ("parity-tiny-recorded", (), ("k3", "eval"), True),
        ("parity-tiny-recorded", ("reference.kind=dflash-torch",), ("k3", "eval"), False),
        ("parity-tiny-dflash", ('reference.kind="recorded"',), ("k3", "eval"), True),
        ("parity", (), ("k3", "parity", "--recorded"), True),
    ],
)
def test_who_asked_for_a_recording_names_it(
    name: str, overrides: tuple[str, ...], argv: tuple[str, ...], fires: bool
) -> None:
    def asked(report: Report) -> Report:
        assert report.provenance is not None
        assert report.preset is not None
        preset = report.preset.replace(name=name, overrides=overrides)
        return report.replace(preset=preset, provenance=report.provenance.replace(argv=argv))

    assert bool(ask("PARITY_FAILED", asked(edited(recording=None)))) is fires
    assert not ask("PARITY_FAILED", asked(recorded_parity()))


def test_shipped_presets_are_named_after_their_recorded_reference() -> None:
    presets = [load_preset(name).preset for name in preset_names()]
    kinds = {one.name: one.reference.kind for one in presets if isinstance(one, ParityPreset)}
    assert {name for name, kind in kinds.items() if kind == RECORDED_KIND} == {
        preset.name for preset in presets if preset.name.endswith(f"-{RECORDED_KIND}")
    }


def test_a_recording_is_of_the_verifier_that_was_loaded() -> None:
    report = recorded_parity()
    assert report.provenance is not None
    models = tuple(
        model.replace(weights=NOWHERE) if model.role == "verifier" else model for model in report.provenance.models
    )
    other = report.replace(provenance=report.provenance.replace(models=models))
    assert "verifier: the report says sha256:9999" in ask("PARITY_FAILED", other)[0].message


def test_a_reference_that_follows_the_candidate_is_found() -> None:
    """The candidate went wrong, and the report lets the reference go wrong with it."""
    wrong = (7,) * (RECORDED.block_size - 1)
    blocks = blocks_of(RECORDED, lambda sample, block, said: wrong if (sample, block) == (1, 3) else said)
    report = edited(
        blocks=tuple(one.replace(reference_tokens=wrong) if one.candidate_tokens == wrong else one for one in blocks)
    )
    assert found("PARITY_FAILED", report) == ["1"]
    assert "first: sample 1, block 3" in ask("PARITY_FAILED", report)[0].message
    assert parity_shown(report) == frozenset()


@pytest.mark.parametrize("tokens", [0, RECORDED.streams[0].prompt_tokens + 55, 10**6])
def test_a_block_of_another_place_is_found(tokens: int) -> None:
    report = with_block(BLOCKS - 1, context_tokens=tokens)
    assert any("not recorded so" in finding.message for finding in ask("PARITY_FAILED", report))


@pytest.mark.parametrize("block", [0, 1, 3, BLOCKS - 2])
def test_blocks_that_were_taken_out_are_missed_by_those_after_them(block: int) -> None:
    """One block goes from every sample and the others are numbered anew."""
    left = [one for one in blocks_of(RECORDED) if one.block != block]
    report = edited(blocks=tuple(one.replace(block=one.block - (one.block > block)) for one in left))
    said = [finding.message for finding in ask("PARITY_FAILED", report)]
    assert len(said) == len(RECORDED.streams)
    assert all(f"block {block} has " in message and "the stream leads to" in message for message in said)
    assert parity_shown(report) == frozenset()


def test_a_candidate_that_is_always_wrong_goes_on_token_by_token() -> None:
    """What it proposed is no reason to call its run invented."""
    report = edited(blocks=blocks_of(RECORDED, lambda sample, block, said: (7,) * len(said)))
    assert list(recording_faults(report)) == []
    assert ask("PARITY_FAILED", report)


def test_a_block_after_a_prompt_that_was_not_recorded_is_found() -> None:
    report = recorded_parity()
    assert report.workload is not None
    prompts = (report.workload.prompts[0].replace(digest=NOWHERE), *report.workload.prompts[1:])
    other = report.replace(workload=report.workload.replace(prompts=prompts))
    assert f"{BLOCKS} of {5 * BLOCKS} blocks" in ask("PARITY_FAILED", other)[0].message


def test_a_candidate_that_differs_fails_as_against_a_live_reference() -> None:
    report = edited(
        blocks=blocks_of(RECORDED, lambda sample, block, said: (7, *said[1:]) if sample == block == 0 else said)
    )
    assert found("PARITY_FAILED", report) == ["1 of 280 tokens"]


def test_contexts_that_the_recording_does_not_know_are_counted_and_show_nothing() -> None:
    report = with_block(39, reference_tokens=())
    said = [finding.message for finding in ask("PARITY_FAILED", report)]
    assert "no proposal for 1 of 40 blocks (first: sample 4, block 7)" in said[0]
    assert not any("tokens differ" in message for message in said)
    assert parity_shown(report) == frozenset()
