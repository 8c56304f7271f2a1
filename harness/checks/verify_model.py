"""Whether the verifier that mlx-lm loads is the model that transformers runs.

Two implementations are compared over the same numbers: mlx-lm's, and transformers' architecture over the weights of
the same folder, whose quantised tensors are dequantised for it (`scale * q + bias` in float32). Both compute in
float32: rounded to bfloat16, an honest 4-bit model agrees with itself on 96 % of the tokens, as one does that was
read with a wrong RoPE base, so the comparison would tell precisions apart and not implementations. What rounding does
to the model that engines run is measured beside it, on the start of the text, and judged as that.

What no comparison of this kind tells is whether the weights themselves are good: quantised badly, or damaged before
they were stored, they are the same numbers on both sides, named by their digest.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.base.errors import ModelError
from harness.base.progress import Progress, silent
from harness.base.remedies import TORCH_REMEDY
from harness.checks.reference_logits import compare_recorded, recorded_reference
from harness.models.faithfulness import fixed_text, store_faithfulness, text_digest
from harness.models.folder.identity import identity_of
from harness.models.folder.model_folder import open_folder
from harness.models.gguf.gguf_file import FloatArray
from harness.models.library_errors import told_in_one_line
from harness.models.tokenizer import REMEDY, open_tokenizer
from reports.records.provenance import AsRun, Faithfulness

RUN_TOKENS = 64
"""Tokens the model is run on in its own type: enough to tell a rounding from another model, and slow on a CPU."""
LEAST_TOKENS = 32
"""Tokens that the fixed text comes to at least; a comparison over fewer says nothing and is not kept."""
STAGES = 3
"""What a verification has to do: the digest, the logits of the loaded model, those of the reference."""


def torch_available() -> bool:
    """Whether torch and transformers are installed; imports neither."""
    return find_spec("torch") is not None and find_spec("transformers") is not None


def can_verify(weights: str) -> bool:
    """Whether there is a reference for these weights: transformers itself, or a recording of it."""
    return torch_available() or recorded_reference(weights, text_digest()) is not None


def verify(folder: Path, progress: Progress = silent) -> Faithfulness:
    """Logits of the verifier as the engines load it against transformers, both in float32, on the fixed text.

    Without torch the logits recorded from transformers for these very weights are the reference, if K3 ships them.
    The result is stored in the cache, where `load_faithfulness` finds it.

    Raises:
        ModelError: there is no reference, the folder is no whole model, one of the two libraries cannot open it,
            their tokenizers disagree, or make next to nothing of the text.
    """
    open_folder(folder)
    progress(0, STAGES, "reading the weights")
    identity = identity_of(folder)
    recorded = None if torch_available() else recorded_reference(identity.weights, text_digest())
    if recorded is None and not torch_available():
        raise ModelError(f"verifying needs the reference implementation: {TORCH_REMEDY}")
    progress(1, STAGES, "computing its logits")
    loaded = _load(folder)
    check_enough(folder, loaded.ids)
    if recorded is not None:
        result = compare_recorded(loaded.ids, loaded.logits, recorded)
        best = np.array([position.tokens[0] for position in recorded.positions])
    else:
        progress(2, STAGES, "computing those of transformers in float32")
        ids, logits, name = reference_logits(folder)
        if loaded.ids != ids:
            raise ModelError(f"{folder}: the tokenizers of mlx-lm and transformers disagree on the fixed text")
        result, best = compare_logits(loaded.logits, logits, name), logits.argmax(axis=1)
    result = result.replace(as_run=loaded.as_run(best))
    store_faithfulness(identity, result)
    return result


def check_enough(folder: Path, ids: Sequence[int]) -> None:
    """Raises: ModelError: the tokenizer of `folder` made so few `ids` of the fixed text that comparing says nothing."""
    if len(ids) < LEAST_TOKENS:
        raise ModelError(
            f"{folder}: its tokenizer makes {len(ids)} tokens of a page of text, so nothing can be compared: "
            "copy tokenizer.json and tokenizer_config.json from the model it was made of"
        )


def compare_logits(loaded: FloatArray, reference: FloatArray, name: str) -> Faithfulness:
    """Argmax agreement and the largest absolute gap of two (tokens, vocabulary) arrays of logits.

    A verifier with a padded head is compared on the vocabulary both have.

    Raises:
        ModelError: a logit is not finite.
    """
    width = min(loaded.shape[1], reference.shape[1])
    loaded, reference = loaded[:, :width], reference[:, :width]
    if not all(np.isfinite(row).all() for logits in (loaded, reference) for row in logits):
        raise ModelError("logits that are not finite: the weights are damaged, or of a type this machine cannot run")
    agreement = float(np.mean(loaded.argmax(axis=1) == reference.argmax(axis=1)))
    gap = max(float(np.abs(ours - theirs).max()) for ours, theirs in zip(loaded, reference, strict=True))
    return Faithfulness(
        reference=name, tokens=len(loaded), argmax_agreement=agreement, largest_logit_gap=float(f"{gap:.4g}")
    )


@dataclass(frozen=True)
class _Loaded:
    """A model as the engines load it on the fixed text: token ids, float32 logits (tokens, vocabulary), the type it
    runs in, and the argmax of its first tokens in that type, None if that is float32."""

    ids: list[int]
    logits: FloatArray
    dtype: str
    choices: NDArray[np.int64] | None

    def as_run(self, best: NDArray[np.int64]) -> AsRun | None:
        """Agreement with `best`, the argmax of the reference, in the type the model runs in."""
        if self.choices is None:
            return None
        agreement = float(np.mean(self.choices == best[: len(self.choices)]))
        return AsRun(dtype=self.dtype, tokens=len(self.choices), argmax_agreement=agreement)


def _load(folder: Path) -> _Loaded:
    """Run the model in float32: activations, scales and biases; packed words stay what they are."""
    from harness.engines.mlx.verifier.load import load_verifier

    verifier = load_verifier(folder)
    import mlx.core as mx

    dtype = verifier.architecture.dtype
    choices = None
    with told_in_one_line(f"{folder}: mlx-lm cannot run it", "see whether config.json is of these weights"):
        ids: list[int] = verifier.tokenizer.encode(fixed_text())
        if max(ids, default=0) >= (rows := verifier.architecture.vocab):
            raise ModelError(f"{folder}: its tokenizer gives token {max(ids)}, the model has {rows}: {REMEDY}")
        if dtype != "float32":
            choices = np.array(verifier.model(mx.array([ids[:RUN_TOKENS]]))[0].argmax(axis=-1), np.int64)
        verifier.model.set_dtype(mx.float32)
        logits = np.array(verifier.model(mx.array([ids]))[0])
    return _Loaded(ids, logits, dtype, choices)


def reference_logits(folder: Path) -> tuple[list[int], FloatArray, str]:
    """Token ids and float32 logits (tokens, vocabulary) from transformers, and the name of it with its versions.

    Raises:
        ModelError: transformers cannot open the folder, or its architecture has other tensors.
    """
    from harness.engines.torch.reference import open_reference

    ids: list[int] = open_tokenizer(open_folder(folder)).encode(fixed_text())
    reference = open_reference(folder)
    return ids, reference.logits(ids).numpy(), reference.name()


def main(arguments: list[str]) -> int:
    """Verify one folder; run by a fetch in a process of its own, so that no torch lives beside a measurement."""
    try:
        verify(Path(arguments[0]))
    except ModelError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
