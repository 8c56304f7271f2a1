"""`k3 train drafter`: a drafter of one's own. Needs PyTorch; everything that is wrong with the flags is said first."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.errors import CannotRunError, UsageError
from harness.base.remedies import TORCH_REMEDY
from harness.commands.train.printing import kept, print_line
from harness.commands.trust_option import TrustCode

if TYPE_CHECKING:
    from harness.training.corpus import TextKind
    from harness.training.drafter.train import DrafterJob


class Precision(StrEnum):
    """Of products; bfloat16 is faster where the processor multiplies it."""

    float32 = "float32"
    bfloat16 = "bfloat16"


class Device(StrEnum):
    """What PyTorch trains on."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"
    mps = "mps"


def command(
    model: Annotated[str, typer.Argument(help="The verifier: a name of `k3 models list`, a folder or a hub id.")],
    out: Annotated[Path, typer.Option(help="Folder for the weights, written at every checkpoint.")],
    work: Annotated[Path | None, typer.Option(help="Folder for corpus and checkpoint; default: OUT.work.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="Folder of text files, the kind `own`.")] = None,
    mix: Annotated[
        str | None,
        typer.Option(help="Kinds of text and their shares, code=4,templates=1,prose=1; default: templates, or own."),
    ] = None,
    start: Annotated[Path | None, typer.Option(help="Folder of a drafter K3 trained, to go on from.")] = None,
    corpus_only: Annotated[bool, typer.Option("--corpus-only", help="Make the corpus and stop.")] = False,
    shards: Annotated[int, typer.Option(min=1, help="Shards of the corpus, --batch sequences each.")] = 28,
    batch: Annotated[int, typer.Option(min=1, max=256)] = 32,
    new_tokens: Annotated[int, typer.Option(min=8, max=4096, help="Of a continuation.")] = 128,
    layers: Annotated[str | None, typer.Option(help="Verifier layers read, 5,17,29; default: three.")] = None,
    depth: Annotated[int, typer.Option(min=1, max=8, help="Layers of the drafter.")] = 2,
    intermediate: Annotated[int | None, typer.Option(min=8, help="Width of its MLPs; default: the verifier's.")] = None,
    block_size: Annotated[int, typer.Option(min=2, max=64)] = 8,
    draft_vocab: Annotated[int, typer.Option(min=1, help="Tokens it may propose, at most.")] = 6000,
    mask_token: Annotated[int | None, typer.Option(min=0, help="Default: a special token to spare.")] = None,
    steps: Annotated[int, typer.Option(min=1)] = 2000,
    sequences: Annotated[int, typer.Option(min=1, help="A step.")] = 4,
    anchors: Annotated[int, typer.Option(min=1, help="Blocks a sequence and step.")] = 32,
    rate: Annotated[float, typer.Option(help="Peak learning rate.")] = 5e-4,
    warm_up: Annotated[int, typer.Option(min=0, help="Steps.")] = 200,
    horizon: Annotated[float, typer.Option(help="Positions over which a draft's weight falls by e.")] = 4.0,
    distil: Annotated[float, typer.Option(help="Share of the loss on the verifier's logits.")] = 0.0,
    fraction_bits: Annotated[int, typer.Option(min=1, max=10, help="Kept of a float16 weight: fewer pack small.")] = 10,
    interval: Annotated[int, typer.Option(min=1, help="Steps between checkpoints.")] = 50,
    draft_cost: Annotated[float, typer.Option(help="Of a draft to the step that reads it, in plain steps.")] = 0.1,
    proposal_cost: Annotated[float, typer.Option(help="Of the drafter's own forward, in plain steps.")] = 0.05,
    precision: Annotated[Precision, typer.Option(help="Of products in corpus and training.")] = Precision.float32,
    device: Annotated[Device, typer.Option(help="auto: cuda, else mps, else cpu.")] = Device.auto,
    held_out_seed: Annotated[int, typer.Option(min=0, help="Of the prompts that are only measured on.")] = 42,
    held_out_samples: Annotated[int, typer.Option(min=1, max=256, help="Of each kind.")] = 12,
    held_out_items: Annotated[int, typer.Option(min=2, max=56)] = 12,
    seed: Annotated[int, typer.Option(min=0)] = 7,
    trust_code: TrustCode = False,
) -> None:
    """A DFlash drafter, from the verifier's own continuations.

    They are its greedy continuations of a corpus. Stop it at any time; run it again to go
    on."""
    from harness.checks.verify_model import torch_available

    if not torch_available():
        raise CannotRunError(f"training needs PyTorch: {TORCH_REMEDY}")
    if not (rate > 0 and horizon > 0 and 0 <= distil < 1):
        raise UsageError("--rate and --horizon must be above 0, and --distil from 0 to below 1")
    if not (0 <= draft_cost <= 10 and 0 <= proposal_cost <= 10):
        raise UsageError("--draft-cost and --proposal-cost must be from 0 to 10")
    from harness.base.provenance import anonymous_argv
    from harness.models.resolve import resolve
    from harness.training.corpus import CorpusRecipe, read_texts, texts_digest, texts_of
    from harness.training.device import find_device
    from harness.training.drafter import train as training
    from harness.training.drafter.held_out.caution import BlockCosts
    from harness.training.drafter.recipe import TrainingRecipe
    from harness.training.drafter.start import read_start
    from harness.training.drafter.verifier import TorchVerifier
    from harness.training.verifier_shape import shape_of

    trained_on = find_device(device.value)
    verifier = resolve(model)
    kinds = parse_mix(mix or ("templates=1" if corpus is None else "own=1"), seed)
    if (corpus is None) == any(kind.name == "own" for kind in kinds):
        raise UsageError("--corpus and the kind own in --mix: give both or neither")
    own = () if corpus is None else read_texts(corpus)
    texts = tuple(text for kind in kinds for text in texts_of(kind.name, "training", own))
    shape = shape_of(verifier.folder)
    begun = None if start is None else read_start(start, verifier.weights)
    job: DrafterJob = training.DrafterJob(
        verifier=verifier,
        texts=own,
        corpus=CorpusRecipe(
            verifier=verifier.weights,
            seed=seed,
            texts=texts_digest(texts) if texts else None,
            kinds=kinds,
            new_tokens=new_tokens,
            batch=batch,
            layers=training.default_layers(shape.layers) if layers is None else parse_aux_layers(layers),
            dtype=precision.value,
            held_out_seed=held_out_seed,
            held_out_samples=held_out_samples,
            held_out_items=held_out_items,
        ),
        training=TrainingRecipe(
            seed=seed,
            start=None if begun is None else begun.manifest.weights,
            shards=shards,
            depth=depth,
            intermediate=intermediate,
            block_size=block_size,
            draft_vocab=draft_vocab,
            mask_token_id=shape.spare_token() if mask_token is None else mask_token,
            steps=steps,
            sequences=sequences,
            anchors=anchors,
            rate=rate,
            warm_up=warm_up,
            horizon=horizon,
            distil=distil,
            precision=precision.value,
            fraction_bits=fraction_bits,
            interval=interval,
            costs=BlockCosts(draft=draft_cost, proposal=proposal_cost),
        ),
        out=out,
        work=out.parent / f"{out.name}.work" if work is None else work,
        command=" ".join(anonymous_argv(sys.argv)),
        device=trained_on,
        start=begun,
    )
    if corpus_only:
        with kept(out):
            training.make_corpus(
                job, TorchVerifier(verifier.folder, training.DTYPES[precision.value], trained_on), print_line
            )
        return
    with kept(out):
        manifest = training.train_drafter(job, print_line)
    print_line(f"{out}: {manifest.weights}, {training.describe(manifest.progress[-1], steps)}")


def parse_mix(text: str, seed: int) -> tuple["TextKind", ...]:
    """Kinds of text with their shares, separated by commas; each draws with `seed`.

    Raises:
        UsageError: something else, a kind that there is not, or one twice.
    """
    from harness.training.corpus import KINDS, TextKind

    try:
        parts = [part.split("=") for part in text.split(",")]
        kinds = tuple(
            TextKind.model_validate({"name": name, "seed": seed, "share": int(share)}) for name, share in parts
        )
    except ValueError:
        kinds = ()
    if not kinds or len({kind.name for kind in kinds}) < len(kinds):
        raise UsageError(
            f"--mix {text!r}: give some of {', '.join(KINDS)}, each once with a share, for example code=4,templates=1"
        )
    return kinds


def parse_aux_layers(text: str) -> tuple[int, ...]:
    """Ascending layer numbers separated by commas.

    Raises:
        UsageError: something else.
    """
    parts = text.split(",")
    layers = tuple(int(part) for part in parts if part.isdecimal())
    if len(layers) != len(parts) or list(layers) != sorted(set(layers)):
        raise UsageError(f"--layers {text!r}: give ascending layer numbers, for example 5,17,29")
    return layers
