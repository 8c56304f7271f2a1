"""`k3 train ftheta`: maps from proposer features to a verifier's K/V, fitted in closed form. Needs no PyTorch."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands.train.printing import kept, print_line
from harness.commands.trust_option import TrustCode

if TYPE_CHECKING:
    from harness.models.f_theta_folder import FThetaManifest


def command(
    model: Annotated[str, typer.Argument(help="The verifier: a name of `k3 models list`, a folder or a hub id.")],
    out: Annotated[Path, typer.Option(help="Folder for the weights and their manifest.")],
    work: Annotated[Path | None, typer.Option(help="Folder for the sums of a run; default: OUT.work.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="Folder of text files to read besides what ships.")] = None,
    proposer_layer: Annotated[
        int | None, typer.Option(min=0, help="Its input is the features; default: three fifths of the depth.")
    ] = None,
    texts: Annotated[int, typer.Option(min=1, help="Texts to fit to.")] = 150,
    held_out: Annotated[int, typer.Option(min=1, max=1000, help="Texts to measure the error on.")] = 5,
    lines: Annotated[int, typer.Option(min=5, max=2000, help="Mean haystack size.")] = 70,
    ridge: Annotated[float, typer.Option(help="Added to the diagonal of the features' correlations.")] = 1e-4,
    fine_tune: Annotated[int, typer.Option(min=0, help="Steps on the verifier's logits; kept if better.")] = 0,
    rate: Annotated[float, typer.Option(help="Peak learning rate of fine-tuning.")] = 1e-4,
    sequences: Annotated[int, typer.Option(min=1, help="Texts a step of fine-tuning.")] = 4,
    interval: Annotated[int, typer.Option(min=1, help="Steps between checkpoints of fine-tuning.")] = 10,
    recall_prompts: Annotated[int, typer.Option(min=0, max=1000, help="Needle prompts to try it on.")] = 10,
    recall_only: Annotated[
        bool, typer.Option("--recall-only", help="Fit nothing: try what OUT holds and say so in its manifest.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**31)] = 7,
    trust_code: TrustCode = False,
) -> None:
    """An f_theta, by ridge regression and by descent.

    The descent comes after it, on the verifier's logits. Stop it at any time; the same
    command goes on. More --texts add to a finished run."""
    from harness.base.errors import UsageError
    from harness.base.provenance import anonymous_argv
    from harness.models.folder.model_folder import open_folder
    from harness.models.info import layer_types
    from harness.models.resolve import resolve
    from harness.training.corpus import read_texts, texts_digest
    from harness.training.f_theta.recall import measure_recall
    from harness.training.f_theta.train import FThetaJob, FThetaRecipe, train_f_theta
    from harness.training.f_theta.tuning import TuningRecipe

    if not 0 < ridge < 1:
        raise UsageError(f"--ridge {ridge:g}: must lie between 0 and 1")
    if not 0 < rate < 1:
        raise UsageError(f"--rate {rate:g}: must lie between 0 and 1")
    if recall_only and not (recall_prompts and fine_tune == 0):
        raise UsageError("--recall-only: fits nothing, so it goes with --recall-prompts and without --fine-tune")
    verifier = resolve(model)
    if recall_only:
        print_line(summary(out, measure_recall(verifier.folder, out, lines, recall_prompts)))
        return
    pieces = () if corpus is None else read_texts(corpus)
    layers = len(layer_types(open_folder(verifier.folder).config) or ())
    job = FThetaJob(
        verifier=verifier,
        recipe=FThetaRecipe(
            verifier=verifier.weights,
            seed=seed,
            proposer_layer=round(0.6 * layers) if proposer_layer is None else proposer_layer,
            lines=lines,
            count=texts,
            held_out=held_out,
            ridge=ridge,
            texts=texts_digest(pieces) if pieces else None,
        ),
        texts=pieces,
        recall_prompts=recall_prompts,
        out=out,
        work=out.parent / f"{out.name}.work" if work is None else work,
        command=" ".join(anonymous_argv(sys.argv)),
        tuning=TuningRecipe(steps=fine_tune, rate=rate, sequences=sequences, interval=interval) if fine_tune else None,
    )
    with kept(out):
        manifest = train_f_theta(job, print_line)
    print_line(summary(out, manifest))


def summary(out: Path, manifest: "FThetaManifest") -> str:
    """The weights, and how many codes they recall if that was tried."""
    found = manifest.recall
    recalled = f", recalls {found.restored} of {found.prompts} (verifier {found.verifier})" if found else ""
    return f"{out}: {manifest.weights}{recalled}"
