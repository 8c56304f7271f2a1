"""Trains a DFlash drafter for a verifier, from the verifier's own greedy continuations of a corpus.

Chen et al., "DFlash: Block Diffusion for Flash Speculative Decoding" (2026): anchors at random positions, the rest of
the block masked, all of it proposed in one forward from the verifier's hidden states; a loss that decays with the
position. K3 adds a draft vocabulary, since the head is most of what a small drafter costs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from harness.base.errors import UsageError
from harness.base.provenance import version_of
from harness.engines.dflash_config import DflashConfig, DflashLayerKind
from harness.models.model_text import ModelText
from harness.models.resolve import ResolvedModel
from harness.training.corpus import Corpus, CorpusRecipe
from harness.training.drafter.blocks import draft_vocabulary, places_in
from harness.training.drafter.checkpoint import Checkpoint
from harness.training.drafter.export import MANIFEST, export
from harness.training.drafter.held_out.caution import Caution, cautions, chosen
from harness.training.drafter.loop import Loop
from harness.training.drafter.net import DrafterNet, initialise
from harness.training.drafter.recipe import DrafterManifest, Progress, TrainingRecipe
from harness.training.drafter.shards import Shards
from harness.training.drafter.start import Start
from harness.training.drafter.surroundings import Surroundings
from harness.training.drafter.verifier import Continued, TorchVerifier
from reports.atomic_file import write_atomically
from reports.records.provenance import Package
from reports.records.recipe import Recipe
from workloads.documents import Document

PACKAGES = ("k3", "torch", "transformers", "tokenizers", "numpy", "safetensors")
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class DrafterJob:
    """A drafter to be trained: for which verifier, from what and how; `out` gets the weights, `work` everything that
    lets a killed run go on. `command` is what the manifest says made it; `start` is a drafter to go on from.

    `device` decides nothing but the rounding: a run may go on on another one.
    """

    verifier: ResolvedModel
    corpus: CorpusRecipe
    texts: tuple[Document, ...]
    training: TrainingRecipe
    out: Path
    work: Path
    command: str
    device: torch.device
    start: Start | None = None


def train_drafter(job: DrafterJob, told: Callable[[str], None]) -> DrafterManifest:
    """Make what is missing of the corpus, train from the last checkpoint on, and write the weights at each.

    Raises:
        UsageError: `work` holds another run, or the recipe does not fit the verifier.
        ModelError: the verifier, a shard or a checkpoint is damaged.
    """
    verifier = TorchVerifier(job.verifier.folder, torch.float32, job.device)
    shards = make_corpus(job, verifier, told)
    training = [sequence for index in range(job.training.shards) for sequence in shards.shard(index)]
    vocab = len(verifier.table)
    ids = draft_vocabulary(training, job.training.draft_vocab, vocab)
    net = DrafterNet(config_of(job, verifier, len(ids)), typical_size(training))
    ones = torch.ones(1, verifier.hidden_size, device=job.device)
    initialise(net, job.training.seed, verifier.normed(ones)[0].cpu())
    if job.start is not None:
        job.start.fill(net)
    net.to(job.device)
    around = Surroundings(
        verifier.table.clone(), verifier.head[ids].clone(), places_in(ids, vocab), verifier.softcap, verifier.normed
    )
    digest, recipe = shards.digest(job.training.shards), recipe_of_job(job, verifier)
    checkpoint = Checkpoint(job.work / "checkpoint.safetensors", job.training, digest)
    loop = Loop(net, job.training, around, training, shards.held_out(), checkpoint)

    def seen(progress: Progress) -> None:
        told(describe(progress, job.training.steps))
        write_manifest(job, loop.progress, export(job.out, net, ids, job.training.fraction_bits), digest, recipe)

    loop.run(seen)
    weights = export(job.out, net, ids, job.training.fraction_bits)
    learnt = cautions(loop.foreseen(), job.training.costs)
    told(describe_caution(learnt))
    return write_manifest(job, loop.progress, weights, digest, recipe, learnt)


def make_corpus(job: DrafterJob, verifier: TorchVerifier, told: Callable[[str], None]) -> Shards:
    """The shards that the training asks for, made where they are missing.

    Raises:
        UsageError: as `check_fit`, or `work` holds another corpus.
    """
    check_fit(job, verifier)
    shards = Shards(job.work / "corpus", job.corpus)
    dtype = DTYPES[job.corpus.dtype]
    shards.make(
        job.training.shards,
        corpus_of(job, verifier),
        lambda: TorchVerifier(job.verifier.folder, dtype, job.device),
        told,
    )
    return shards


def corpus_of(job: DrafterJob, verifier: TorchVerifier) -> Corpus:
    """The prompts that the verifier is asked to continue."""
    return Corpus(job.corpus, ModelText(verifier.tokenizer, len(verifier.table)), job.texts)


def recipe_of_job(job: DrafterJob, verifier: TorchVerifier) -> Recipe:
    """What is written down of the text, with that of the drafter it goes on from."""
    own = corpus_of(job, verifier).recipe(job.training.shards)
    return own if job.start is None else own.after(job.start.manifest.recipe)


def check_fit(job: DrafterJob, verifier: TorchVerifier) -> None:
    """See that the recipes can be followed with this verifier.

    Raises:
        UsageError: a layer or mask token it does not have, or logits to distil that the corpus would not give.
    """
    last = verifier.layer_count - 1
    beyond = [layer for layer in job.corpus.layers if not 0 <= layer <= last]
    if beyond:
        raise UsageError(f"--layers: there is no layer {beyond[0]}; the verifier has 0 to {last}")
    if job.training.mask_token_id >= len(verifier.table):
        raise UsageError(f"--mask-token: {job.training.mask_token_id} is none of the {len(verifier.table)} tokens")
    if job.training.distil and job.corpus.layers[-1] != last:
        raise UsageError(f"--distil: needs the last layer, {last}, as the last of --layers")


def config_of(job: DrafterJob, verifier: TorchVerifier, draft_vocab: int) -> DflashConfig:
    """A drafter as wide as its verifier."""
    stated, training = verifier.config, job.training
    heads = int(stated.num_attention_heads)
    return DflashConfig(
        hidden_size=verifier.hidden_size,
        intermediate_size=training.intermediate or int(stated.intermediate_size),
        heads=heads,
        kv_heads=int(stated.num_key_value_heads),
        head_dim=int(getattr(stated, "head_dim", None) or verifier.hidden_size // heads),
        norm_eps=1e-6,
        rope_theta=10000.0,
        rope_scaling=None,
        max_position_embeddings=int(stated.max_position_embeddings),
        target_layer_ids=job.corpus.layers,
        mask_token_id=training.mask_token_id,
        block_size=training.block_size,
        layer_kinds=(DflashLayerKind(None, False),) * training.depth,
        draft_vocab=draft_vocab,
    )


def default_layers(count: int) -> tuple[int, ...]:
    """An early, a middle and the last layer: the token, its context and what the verifier makes of it."""
    return tuple(sorted({count // 6, (count * 7) // 12, count - 1}))


def typical_size(sequences: list[Continued]) -> Tensor:
    """The median size of every channel of the features (layers x hidden,), over every 17th position."""
    sampled = torch.cat([sequence.features[1::17] for sequence in sequences]).float()
    return sampled.abs().median(dim=0).values.clamp(min=1e-3)


def describe(progress: Progress, steps: int) -> str:
    """One line of progress."""
    held = progress.held_out
    rates = " ".join(
        f"{accepted / drafted:.2f}" for accepted, drafted in zip(held.accepted, held.drafted, strict=True) if drafted
    )
    return (
        f"step {progress.step} of {steps}: loss {progress.loss:.3f}, held out {held.committed:.2f} tokens a block, "
        f"accepted by position {rates}"
    )


def describe_caution(learnt: tuple[Caution, ...]) -> str:
    """What to ask of it in a preset, and what that is worth."""
    best, whole = chosen(learnt), next(caution for caution in learnt if caution.sure is None)
    said = f"held out, {whole.gain:.2f} tokens a plain step where it drafts at every step (worst {whole.worst:.2f})"
    if best is whole:
        return f"{said}: leave `sure` out of its arm"
    return f"{said}, {best.gain:.2f} with `sure = {best.sure}` in its arm (worst {best.worst:.2f})"


def write_manifest(
    job: DrafterJob,
    progress: tuple[Progress, ...],
    weights: str,
    corpus: str,
    recipe: Recipe,
    learnt: tuple[Caution, ...] = (),
) -> DrafterManifest:
    """Write and return what is known about the weights in `out`; `learnt` is known at the end."""
    manifest = DrafterManifest(
        weights=weights,
        verifier=job.verifier.id,
        verifier_weights=job.verifier.weights,
        corpus=corpus,
        corpus_recipe=job.corpus,
        training=job.training,
        progress=progress,
        cautions=learnt,
        sure=chosen(learnt).sure if learnt else None,
        device=job.device.type,
        packages=tuple(Package(name=name, version=found) for name in PACKAGES if (found := version_of(name))),
        command=job.command,
        recipe=recipe,
        before=None if job.start is None else job.start.manifest,
    )
    write_atomically((manifest.model_dump_json(indent=2) + "\n").encode(), job.out / MANIFEST)
    return manifest
