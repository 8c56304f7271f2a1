"""Trains an f_theta: reads a corpus once, solves for the maps, measures them on text and prompts not fitted to.

One pass over the corpus leaves sums (`moments.npz` in the work folder, saved every few texts, so that a killed run
goes on); the maps are then a linear solve away. Targets are the verifier's own K/V under its native attention. If
asked, the maps are then fine-tuned on the verifier's logits, and kept if they are better for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import OutputError, UsageError
from harness.engines.mlx.bounded.f_theta import load_projection
from harness.engines.mlx.verifier.load import Verifier, load_verifier
from harness.models.f_theta_folder import (
    FineTuning,
    FThetaCorpus,
    FThetaManifest,
    LayerFit,
    Proposer,
)
from harness.models.model_text import ModelText
from harness.models.resolve import ResolvedModel
from harness.training.corpus import TrainingText, recipe_from
from harness.training.f_theta.corpus import GENERATOR, FThetaTexts
from harness.training.f_theta.divergence import Divergence
from harness.training.f_theta.export import export, put_manifest, rounded
from harness.training.f_theta.fit import Floats, Moments, Residuals, Ridge, solve, whitener
from harness.training.f_theta.reader import Reader
from harness.training.f_theta.recall import SINK, RecallTrial
from harness.training.f_theta.tuning import HELD_OUT_FROM, TUNED_FROM, Tuner, TuningKey, TuningRecipe, as_ridge
from reports.records.recipe import Recipe
from reports.records.record import Digest, Record
from workloads.documents import Document

SAVE_EVERY = 10
Told = Callable[[str], None]


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
    """An f_theta to be trained: for which verifier, from what and how; `out` gets the folder, `work` what lets a
    killed run go on.

    `recall_prompts`: needle prompts it is tried on at the end; `command` is what the manifest says made it.
    """

    verifier: ResolvedModel
    recipe: FThetaRecipe
    texts: tuple[Document, ...]
    recall_prompts: int
    out: Path
    work: Path
    command: str
    tuning: TuningRecipe | None = None


@dataclass(frozen=True)
class FThetaTraining:
    """A job with what it works with; `trial` is None if no recall is asked for."""

    job: FThetaJob
    verifier: Verifier
    corpus: FThetaTexts
    reader: Reader
    trial: RecallTrial | None
    told: Told


def train_f_theta(job: FThetaJob, told: Told) -> FThetaManifest:
    """Read what is left of the corpus, solve, measure, and write the folder; then fine-tune, if that is asked.

    Raises:
        UsageError: a proposer layer the verifier does not have, or haystacks too small for the recall asked.
        ModelError: what is in `work` is damaged or another run's. OutputError: a folder cannot be written.
    """
    run = prepare(job, told)
    moments = gather(run)
    ridge = rounded(solve(moments, job.recipe.ridge))
    manifest = export(job.out, manifest_of(run, moments, fits(run, ridge)), ridge)
    for fit in manifest.fits:
        told(f"layer {fit.layer}: unexplained {fit.keys:.3f} of keys, {fit.values:.3f} of values")
    if run.trial is not None:
        manifest = manifest.replace(recall=run.trial.of(job.out))
        put_manifest(job.out, manifest)
    if job.tuning is not None:
        manifest = fine_tune(run, job.tuning, whitener(moments, job.recipe.ridge), manifest)
    return manifest


def prepare(job: FThetaJob, told: Told) -> FThetaTraining:
    """Load the verifier and see that the job fits it.

    Raises:
        UsageError: as `train_f_theta`.
    """
    verifier = load_verifier(job.verifier.folder)
    layer, layers = job.recipe.proposer_layer, verifier.architecture.layers
    if not 0 <= layer < layers:
        raise UsageError(f"--proposer-layer: there is no layer {layer}; the verifier has 0 to {layers - 1}")
    text = ModelText(verifier.tokenizer, verifier.architecture.vocab)
    trial = RecallTrial(verifier, job.recipe.lines, job.recall_prompts) if job.recall_prompts else None
    cuts = tuple(TrainingText(tuple(text.encode(piece.text)), piece.name) for piece in job.texts)
    corpus = FThetaTexts(job.recipe.seed, job.recipe.lines, text.style("auto"), text, cuts)
    return FThetaTraining(job, verifier, corpus, Reader(verifier, layer), trial, told)


def gather(run: FThetaTraining) -> Moments:
    """The sums over all texts of the recipe; what was summed before is taken up."""
    recipe, reader = run.job.recipe, run.reader
    key = recipe.model_dump_json(exclude={"ridge", "count", "held_out"})
    path = run.job.work / "moments.npz"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        moments = Moments.load(path, key, reader.features, reader.outputs)
        for index in range(moments.texts, recipe.count):
            reading = reader.read(run.corpus.text(index).tokens)
            moments.add(reading.features[SINK:], reading.outputs[SINK:])
            if moments.texts % SAVE_EVERY == 0 or moments.texts == recipe.count:
                moments.save(path, key)
                run.told(f"read {moments.texts} of {recipe.count} texts, {moments.positions} tokens")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); use another --work") from error
    if moments.texts > recipe.count:
        raise UsageError(f"--texts: {path} holds {moments.texts} already; ask for as many or more, or delete it")
    return moments


def fits(run: FThetaTraining, maps: Ridge) -> tuple[LayerFit, ...]:
    """What the maps leave unexplained, layer by layer, on texts that were not fitted to."""
    residuals = Residuals.empty(run.reader.outputs)
    for index in range(run.job.recipe.held_out):
        reading = run.reader.read(run.corpus.text(HELD_OUT_FROM + index).tokens)
        residuals.add(maps.predict(reading.features[SINK:]), reading.outputs[SINK:])
    architecture = run.verifier.architecture
    width = architecture.kv_heads * architecture.head_dim
    return tuple(
        LayerFit(
            layer=layer,
            keys=residuals.relative(slice(start, start + width)),
            values=residuals.relative(slice(start + width, start + 2 * width)),
        )
        for layer, start in enumerate(range(0, 2 * width * architecture.layers, 2 * width))
    )


def manifest_of(run: FThetaTraining, moments: Moments, found: tuple[LayerFit, ...]) -> FThetaManifest:
    """The manifest, but for the digest of the weights and the recall."""
    job, architecture = run.job, run.verifier.architecture
    recipe = recipe_of_stage(run, 0, job.recipe.count)
    return FThetaManifest(
        format=1,
        verifier=job.verifier.id,
        verifier_weights=job.verifier.weights,
        proposer=Proposer(kind="verifier_layer", layer=job.recipe.proposer_layer, features=len(moments.features)),
        layers=architecture.layers,
        kv_heads=architecture.kv_heads,
        head_dim=architecture.head_dim,
        restorable=tuple(range(architecture.layers)),
        ridge=job.recipe.ridge,
        corpus=FThetaCorpus(
            digest=recipe.prompts[0],
            description="haystacks with codes, code files" + (", the user's texts" if job.texts else ""),
            seed=job.recipe.seed,
            texts=job.recipe.count,
            tokens=moments.positions + SINK * moments.texts,
        ),
        fits=found,
        weights="sha256:" + "0" * 64,
        command=job.command,
        recipe=recipe,
    )


def recipe_of_stage(run: FThetaTraining, first: int, count: int) -> Recipe:
    """What is written down of a stage that read `count` texts of the corpus from `first` on."""
    texts = (run.corpus.text(first + index) for index in range(count))
    return recipe_from(GENERATOR, run.job.recipe.seed, run.job.recipe.texts, texts)


def fine_tune(run: FThetaTraining, recipe: TuningRecipe, whitening: Floats, ridge: FThetaManifest) -> FThetaManifest:
    """Move the maps in `out` by descent on the verifier's logits.

    The moved ones replace them if their held-out divergence is less and their held-out recall no worse; the manifest
    says so either way.
    """
    job = run.job
    key = TuningKey(
        ridge_weights=ridge.weights,
        recipe=recipe,
        seed=job.recipe.seed,
        lines=job.recipe.lines,
        texts=job.recipe.texts,
    )
    divergence = Divergence.on(run.verifier, run.reader, str(job.out))
    tuner = Tuner(divergence, whitening, run.corpus, key, job.recipe.held_out, job.work)
    before = tuner.held_out(divergence.projection)
    run.told(f"held-out divergence {before:.4g} with the ridge's maps")
    tuner.run(run.told)
    maps, folder = rounded(as_ridge(tuner.maps)), job.work / "fine-tuned"
    tuned = export(folder, ridge.replace(fits=fits(run, maps)), maps)
    tuned = tuned.replace(recall=None if run.trial is None else run.trial.of(folder))
    after = tuner.held_out(load_projection(folder, tuned, run.verifier))
    no_worse = tuned.recall is None or ridge.recall is None or tuned.recall.restored >= ridge.recall.restored
    result = FineTuning(
        steps=recipe.steps,
        rate=recipe.rate,
        sequences=recipe.sequences,
        ridge_weights=ridge.weights,
        held_out=job.recipe.held_out,
        divergence_before=before,
        divergence_after=after,
        recall_before=ridge.recall,
        recall_after=tuned.recall,
        kept=after < before and no_worse,
    )
    run.told(f"held-out divergence {after:.4g} with the fine-tuned: {'kept' if result.kept else 'not kept'}")
    if result.kept:
        read = recipe_of_stage(run, TUNED_FROM, recipe.steps * recipe.sequences).after(ridge.recipe)
        return export(job.out, tuned.replace(fine_tuning=result, recipe=read), maps)
    ridge = ridge.replace(fine_tuning=result)
    put_manifest(job.out, ridge)
    return ridge
