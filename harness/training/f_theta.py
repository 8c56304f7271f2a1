"""Trains an f_theta: reads a corpus once, solves for the maps, measures them on text and prompts not fitted to.

One pass over the corpus leaves sums (`moments.npz` in the work folder, saved every few texts, so that a killed run
goes on); the maps are then a linear solve away. Targets are the verifier's own K/V under its native attention.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mlx.core as mx
import numpy as np

from harness.engines.base import DecodeLimit, Engine
from harness.engines.mlx.load import Verifier, load_verifier
from harness.engines.registry import EngineSettings, RestorationRequest, build
from harness.errors import OutputError, UsageError
from harness.models.digest import compute_digest
from harness.models.f_theta import (
    CONFIG_TEXT,
    MANIFEST,
    WEIGHTS,
    FThetaCorpus,
    FThetaManifest,
    HeldOutRecall,
    LayerFit,
    Proposer,
)
from harness.models.resolve import ResolvedModel
from harness.text import ModelText
from harness.training.f_theta_corpus import FThetaTexts
from harness.training.f_theta_fit import Moments, Residuals, Ridge, solve
from harness.training.f_theta_reader import Reader
from reports.record import Digest, Record
from reports.report import write_atomically
from reports.scoring import score
from workloads.base import StopPolicy
from workloads.niah import Niah

SINK, WINDOW = 4, 64
"""The first positions are never evicted, so nothing is fitted to them; recall is measured with this sink and window."""
SAVE_EVERY = 10
HELD_OUT_FROM = 2**24
"""Texts of the corpus from this one on are only measured on."""
HELD_OUT_SEED = 2**32
MAX_NEW_TOKENS = 16


class FThetaRecipe(Record):
    """Everything that decides the maps. `texts` is the digest of the user's text files, none for the corpus shipped."""

    verifier: Digest
    seed: int
    proposer_layer: int
    lines: int
    count: int
    held_out: int
    ridge: float
    texts: Digest | None


@dataclass(frozen=True)
class FThetaJob:
    """An f_theta to be trained: for which verifier, from what and how; `out` gets the folder, `work` the sums.

    `recall_prompts`: needle prompts it is tried on at the end; `command` is what the manifest says made it.
    """

    verifier: ResolvedModel
    recipe: FThetaRecipe
    texts: tuple[str, ...]
    recall_prompts: int
    out: Path
    work: Path
    command: str


def train_f_theta(job: FThetaJob, told: Callable[[str], None]) -> FThetaManifest:
    """Read what is left of the corpus, solve, measure, and write the folder.

    Raises:
        UsageError: a proposer layer the verifier does not have.
        ModelError: the sums in `work` are damaged or another run's. OutputError: a folder cannot be written.
    """
    verifier = load_verifier(job.verifier.folder)
    layer, layers = job.recipe.proposer_layer, verifier.facts.layers
    if not 0 <= layer < layers:
        raise UsageError(f"--proposer-layer: there is no layer {layer}; the verifier has 0 to {layers - 1}")
    text = ModelText(verifier.tokenizer)
    cuts = tuple(tuple(text.encode(piece)) for piece in job.texts)
    corpus = FThetaTexts(job.recipe.seed, job.recipe.lines, text.style("auto"), text, cuts)
    reader = Reader(verifier, layer)
    moments = gather(job, corpus, reader, told)
    ridge = solve(moments, job.recipe.ridge)
    residuals = measure(job, corpus, reader, rounded(ridge))
    manifest = describe(job, verifier, corpus, moments, residuals)
    manifest = write(job.out, manifest, ridge)
    for fit in manifest.fits:
        told(f"layer {fit.layer}: unexplained {fit.keys:.3f} of keys, {fit.values:.3f} of values")
    if job.recall_prompts:
        manifest = manifest.replace(recall=recall(job, verifier, text))
        _put(job.out / MANIFEST, manifest)
    return manifest


def gather(job: FThetaJob, corpus: FThetaTexts, reader: Reader, told: Callable[[str], None]) -> Moments:
    """The sums over all texts of the recipe; what was summed before is taken up."""
    key = job.recipe.model_dump_json(exclude={"ridge", "count", "held_out"})
    path = job.work / "moments.npz"
    try:
        job.work.mkdir(parents=True, exist_ok=True)
        moments = Moments.load(path, key, reader.features, reader.outputs)
        for index in range(moments.texts, job.recipe.count):
            reading = reader.read(corpus.text(index))
            moments.add(reading.features[SINK:], reading.outputs[SINK:])
            if moments.texts % SAVE_EVERY == 0 or moments.texts == job.recipe.count:
                moments.save(path, key)
                told(f"read {moments.texts} of {job.recipe.count} texts, {moments.positions} tokens")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); use another --work") from error
    if moments.texts > job.recipe.count:
        raise UsageError(f"--texts: {path} holds {moments.texts} already; ask for as many or more, or delete it")
    return moments


def measure(job: FThetaJob, corpus: FThetaTexts, reader: Reader, ridge: Ridge) -> Residuals:
    """What the maps leave unexplained on texts that were not fitted to."""
    residuals = Residuals.empty(reader.outputs)
    for index in range(job.recipe.held_out):
        reading = reader.read(corpus.text(HELD_OUT_FROM + index))
        residuals.add(ridge.predict(reading.features[SINK:]), reading.outputs[SINK:])
    return residuals


def rounded(ridge: Ridge) -> Ridge:
    """The maps as the file will hold them, rounded to float16."""
    weight, bias = (part.astype(np.float16).astype(np.float32) for part in (ridge.weight, ridge.bias))
    return Ridge(ridge.mean, ridge.scale, weight, bias)


def describe(
    job: FThetaJob, verifier: Verifier, corpus: FThetaTexts, moments: Moments, residuals: Residuals
) -> FThetaManifest:
    """The manifest, but for the digest of the weights and the recall."""
    facts, recipe = verifier.facts, job.recipe
    width = facts.kv_heads * facts.head_dim
    keys = [slice(2 * width * layer, 2 * width * layer + width) for layer in range(facts.layers)]
    digest = hashlib.sha256()
    for index in range(recipe.count):
        digest.update((",".join(str(token) for token in corpus.text(index)) + "\n").encode())
    return FThetaManifest(
        format=1,
        verifier=job.verifier.id,
        verifier_weights=job.verifier.weights,
        proposer=Proposer(kind="verifier_layer", layer=recipe.proposer_layer, features=len(moments.features)),
        layers=facts.layers,
        kv_heads=facts.kv_heads,
        head_dim=facts.head_dim,
        restorable=tuple(range(facts.layers)),
        ridge=recipe.ridge,
        corpus=FThetaCorpus(
            digest=f"sha256:{digest.hexdigest()}",
            description="haystacks with codes, code files" + (", the user's texts" if job.texts else ""),
            seed=recipe.seed,
            texts=recipe.count,
            tokens=moments.positions + SINK * moments.texts,
        ),
        fits=tuple(
            LayerFit(
                layer=layer,
                keys=residuals.relative(columns),
                values=residuals.relative(slice(columns.stop, columns.stop + width)),
            )
            for layer, columns in enumerate(keys)
        ),
        weights="sha256:" + "0" * 64,
        command=job.command,
    )


def write(out: Path, manifest: FThetaManifest, ridge: Ridge) -> FThetaManifest:
    """Write the folder; returns the manifest with the digest of the weights.

    Raises:
        OutputError: it cannot be written.
    """
    width = 2 * manifest.kv_heads * manifest.head_dim
    arrays = {"feature_mean": mx.array(ridge.mean), "feature_scale": mx.array(ridge.scale)}
    for layer in manifest.restorable:
        columns = slice(width * layer, width * (layer + 1))
        arrays[f"layers.{layer}.weight"] = mx.array(ridge.weight[:, columns]).astype(mx.float16)
        arrays[f"layers.{layer}.bias"] = mx.array(ridge.bias[columns]).astype(mx.float16)
    try:
        out.mkdir(parents=True, exist_ok=True)
        mx.save_safetensors(str(out / WEIGHTS), arrays)
        write_atomically(CONFIG_TEXT.encode(), out / "config.json")
        manifest = manifest.replace(weights=compute_digest([out / WEIGHTS]))
        _put(out / MANIFEST, manifest)
    except OSError as error:
        raise OutputError(f"{out}: cannot be written ({error.strerror}); use another --out") from error
    return manifest


def _put(path: Path, manifest: FThetaManifest) -> None:
    write_atomically((manifest.model_dump_json(indent=2) + "\n").encode(), path)


def recall(job: FThetaJob, verifier: Verifier, text: ModelText) -> HeldOutRecall:
    """Needle prompts of a seed that is no preset's: by the verifier alone, restored, and with nothing put back."""
    made = Niah(job.recipe.lines, job.recall_prompts, HELD_OUT_SEED, SINK, WINDOW, text.style("auto")).prompts(text)
    prompts = [prompt for prompt in made if prompt.prompt_set == "main"]
    limit = DecodeLimit(MAX_NEW_TOKENS, text.stop_tokens(StopPolicy()))

    def recalled(name: str, request: RestorationRequest) -> int:
        engine: Engine = build(name, verifier, EngineSettings(restoration=request))
        return sum(score(_answer(engine, prompt.tokens, limit, text), prompt.answer or "") for prompt in prompts)

    return HeldOutRecall(
        seed=HELD_OUT_SEED,
        prompts=len(prompts),
        verifier=recalled("ar", RestorationRequest()),
        restored=recalled("incremental", RestorationRequest("f_theta", sink=SINK, window=WINDOW, f_theta=str(job.out))),
        ablated=recalled("incremental", RestorationRequest("ablate", sink=SINK, window=WINDOW)),
    )


def _answer(engine: Engine, tokens: tuple[int, ...], limit: DecodeLimit, text: ModelText) -> str:
    session = engine.prefill(tokens)
    rest = [token for block in engine.decode(session, limit) for token in block.tokens]
    return text.answer_text([session.first_token, *rest])
