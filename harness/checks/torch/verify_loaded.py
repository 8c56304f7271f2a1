"""Whether the verifier that transformers loaded has the weights of its folder.

The implementation is the reference's own here. What can go wrong is the loading: a tensor left out, made up, or read
into another place. So the loaded model is held to the same architecture over the tensors that K3 reads one by one, or
to what was recorded of it for these very weights.
"""

from pathlib import Path

import numpy as np
import torch

from harness.checks.reference_logits import compare_recorded, recorded_reference
from harness.checks.verify_model import RUN_TOKENS, check_enough, compare_logits, reference_logits
from harness.engines.torch.verifier.load import Verifier, load_verifier
from harness.models.faithfulness import fixed_text, load_faithfulness, store_faithfulness, text_digest
from harness.models.folder.identity import identity_of
from harness.models.gguf.gguf_file import FloatArray
from reports.records.provenance import AsRun, Faithfulness

FLOAT32 = "float32"


def verified(verifier: Verifier, folder: Path) -> Faithfulness:
    """The comparison of `verifier`, loaded from `folder`: as stored in the cache, else made now.

    Raises:
        ModelError: there is no reference, or the tokenizer makes next to nothing of the text.
    """
    identity, dtype = identity_of(folder), verifier.architecture.dtype
    known = load_faithfulness(identity, "torch", dtype)
    if known is None:
        known = _compared(verifier, folder, identity.weights)
        store_faithfulness(identity, known, "torch", dtype)
    return known


def _compared(verifier: Verifier, folder: Path, weights: str) -> Faithfulness:
    ids: list[int] = verifier.tokenizer.encode(fixed_text())
    check_enough(folder, ids)
    dtype = verifier.architecture.dtype
    exact = verifier if dtype == FLOAT32 else load_verifier(folder, dtype=FLOAT32)
    logits = _logits(exact, ids)
    recorded = recorded_reference(weights, text_digest())
    if recorded is not None:
        result = compare_recorded(ids, logits, recorded)
        best = np.array([position.tokens[0] for position in recorded.positions])
    else:
        _, reference, name = reference_logits(folder)
        result, best = compare_logits(logits, reference, name), reference.argmax(axis=1)
    if dtype == FLOAT32:
        return result
    chosen = _logits(verifier, ids[:RUN_TOKENS]).argmax(axis=1)
    agreement = float(np.mean(chosen == best[: len(chosen)]))
    return result.replace(as_run=AsRun(dtype=dtype, tokens=len(chosen), argmax_agreement=agreement))


def _logits(verifier: Verifier, ids: list[int]) -> FloatArray:
    """Logits (tokens, vocabulary) in float32, on the host."""
    with torch.inference_mode():
        read = torch.tensor([ids], device=verifier.model.device)
        logits: FloatArray = verifier.model(read, use_cache=False).logits[0].float().cpu().numpy()
    return logits
