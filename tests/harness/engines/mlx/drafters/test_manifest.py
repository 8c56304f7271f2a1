"""A manifest that does not mean the weights beside it, or the verifier at hand, is refused."""

import json
from pathlib import Path

import pytest

from harness.base.errors import EngineError, ModelError
from harness.engines.mlx.drafters.load import load_drafter
from harness.engines.mlx.verifier.load import load_verifier
from harness.engines.spec import DrafterSpec
from harness.models.folder.digest import weights_digest
from tests.harness.engines.mlx.drafters.dflash_checkpoints import write_checkpoint
from tests.harness.model_folders import write_folder
from tests.harness.tiny_models import tiny_llama


@pytest.mark.parametrize("kind", ["dflash", pytest.param("dflash-torch", marks=pytest.mark.torch), "combined"])
def test_what_a_manifest_means_is_checked(kind: str, tmp_path: Path) -> None:
    verifier = load_verifier(write_folder(tmp_path / "verifier", tiny_llama()))
    drafter = write_checkpoint(tmp_path / "drafter")
    assert verifier.folder is not None
    right = {
        "weights": weights_digest(drafter),
        "verifier": "tiny",
        "verifier_weights": weights_digest(verifier.folder),
    }
    request = DrafterSpec(kind=kind, model=str(drafter))
    manifest = drafter / "manifest.json"
    for changes, error, reason in (
        ({"weights": "sha256:" + "0" * 64}, ModelError, "manifest.json: weights: means sha256:0000000000000000, the"),
        ({"verifier_weights": "sha256:" + "0" * 64}, EngineError, "trained for another verifier, tiny"),
        ({"weights": None, "verifier": None}, ModelError, "means None"),
    ):
        manifest.write_text(json.dumps(right | changes))
        with pytest.raises(error, match=reason) as caught:
            load_drafter(request, verifier)
        assert "\n" not in str(caught.value)
    manifest.write_text("{}")
    with pytest.raises(ModelError, match="not the manifest of a drafter"):
        load_drafter(request, verifier)
    manifest.write_text(json.dumps(right))
    assert load_drafter(request, verifier).weights == right["weights"]
