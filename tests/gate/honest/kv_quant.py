"""Codecs over the same captured K/V: identity is clean, affine 4 is the reference, one beats it."""

import random
from datetime import UTC, datetime

from gate.rulebook.thresholds import MIN_CODEC_PROMPTS
from reports.records.codec_rows import (
    CodecArm,
    CodecSample,
    HeldOut,
    KvQuantResult,
    LayerEnergy,
    LayerError,
    OracleSample,
    SecondQuestion,
    StatedCodecVerdict,
    weighted_errors,
)
from reports.records.plan import PlanInfo, PresetInfo, PromptRecord
from reports.report import Report
from tests.gate.honest.machine import provenance
from tests.gate.honest.prompts import CODES, prompts_of, workload_of
from tests.gate.honest.recipes import answer
from tests.gate.honest.setup import STEP_S, Setup, digest, microseconds

CAPTURED = 3
"""Layers whose K/V a codec run captures."""
_CODECS = (
    # name, bits a value, relative error of K, of V
    ("identity", 32.0, 0.0, 0.0),
    ("affine8", 8.5, 6e-5, 3e-5),
    ("affine4", 4.5, 1.8e-2, 9.9e-3),
    ("hadamard_e8", 4.5, 5.4e-3, 6.0e-3),
    ("lattice_d4", 6.3125, 7.7e-4, 7.4e-4),
)


def measured_kv_quant(setup: Setup) -> Report:
    """A codec report before judgement."""
    rng = random.Random(f"kvquant/{setup.seed}")
    answers = [f"{rng.choice(CODES)}-{rng.randint(1000, 9999)}" for _ in range(setup.samples)]
    prompts = prompts_of(setup, answers, ("main",))
    oracle = tuple(_codec_oracle(prompt, rng) for prompt in prompts)
    arms = tuple(
        CodecArm(
            name=name,
            codec=name,
            path="injected",
            layers=tuple(range(CAPTURED)),
            samples=tuple(_codec_sample(row, rng, bits, *errors) for row in oracle),
        )
        for name, bits, *errors in _CODECS
    )
    # Over fewer prompts nothing is decided, and an honest run prints no verdict.
    enough = setup.samples >= MIN_CODEC_PROMPTS.value
    worth = {"affine8": False, "hadamard_e8": True, "lattice_d4": False} if enough else {}
    plan_digest = digest(f"kvquant/{setup!r}")
    return Report(
        kind="kv_quant",
        report_id=f"kvquant-{plan_digest[7:19]}-20261129T161000Z",
        created_at=datetime(2026, 11, 29, 16, 10, tzinfo=UTC),
        preset=PresetInfo(name="kvquant", digest=digest("kvquant")),
        provenance=provenance(),
        workload=workload_of("kv_quant", setup, prompts),
        plan=PlanInfo(digest=plan_digest, samples=setup.samples, repeats=1, complete=True),
        kv_quant=KvQuantResult(
            oracle_recall=1.0,
            oracle=oracle,
            arms=arms,
            verdicts=tuple(StatedCodecVerdict(arm=name, worthwhile=value) for name, value in worth.items()),
        ),
    )


def _codec_oracle(prompt: PromptRecord, rng: random.Random) -> OracleSample:
    """The verifier's own answers to both questions, and the K/V it holds."""
    assert prompt.token_count is not None
    assert prompt.answer is not None
    stream = answer(prompt.answer, correct=True)
    said = SecondQuestion(text=stream.text, correct=True, token_ids=stream.token_ids)
    energies = tuple(
        LayerEnergy(layer=layer, k=rng.uniform(1e5, 4e5), v=rng.uniform(1e4, 4e4)) for layer in range(CAPTURED)
    )
    return OracleSample(
        sample=prompt.sample,
        token_ids=stream.token_ids,
        text=stream.text,
        correct=True,
        stop_reason=stream.stop_reason,
        second=said,
        energies=energies,
        positions=prompt.token_count,
        kv_bytes=prompt.token_count * CAPTURED * 384 * 4,
        decode_s=microseconds(STEP_S * 32 * rng.lognormvariate(0, 0.02)),
        decode_tokens=32,
    )


def _codec_sample(oracle: OracleSample, rng: random.Random, bits: float, error_k: float, error_v: float) -> CodecSample:
    values = oracle.positions * CAPTURED * 384
    layers = tuple(
        LayerError(
            layer=layer,
            k=error_k * rng.lognormvariate(0, 0.03),
            v=error_v * rng.lognormvariate(0, 0.03),
            k_before_rope=error_k * rng.lognormvariate(0, 0.03),
            attention=error_v * rng.lognormvariate(0, 0.1),
        )
        for layer in range(CAPTURED)
    )
    weighted = weighted_errors(layers, oracle.energies)
    assert weighted is not None
    held_out = HeldOut(tokens=48, kl_divergence=error_k * rng.lognormvariate(0, 0.1), top1_flips=int(error_k * 100))
    stored = round(values * bits / 8)
    return CodecSample(
        sample=oracle.sample,
        correct=True,
        token_ids=oracle.token_ids,
        token_ids_equal_oracle=True,
        text=oracle.text,
        relative_error_k=weighted[0],
        relative_error_v=weighted[1],
        stored_bytes=stored,
        values=values,
        entropy_bits=bits * (0.95 if error_k else 1.0),
        layers=layers,
        held_out=held_out,
        second=oracle.second.replace(token_ids_equal_oracle=True, file_bytes=stored // 2),
    )
