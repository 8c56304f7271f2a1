"""Training that goes on from a drafter K3 trained before: for more steps, or on a corpus of one's own."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file

from harness.base.errors import ModelError
from harness.engines.draft_vocab import TENSOR
from harness.models.folder.digest import weights_digest
from harness.models.folder.files import SETTINGS_LIMIT, read_file
from harness.training.drafter.export import MANIFEST, WEIGHTS
from harness.training.drafter.net import DrafterNet
from harness.training.drafter.recipe import DrafterManifest


@dataclass(frozen=True)
class Start:
    """A folder with a drafter and what its manifest says."""

    folder: Path
    manifest: DrafterManifest

    def fill(self, net: DrafterNet) -> None:
        """Put its weights into `net`; the draft vocabulary is none of them.

        Raises:
            ModelError: a drafter of another shape.
        """
        try:
            tensors = {name: tensor.float() for name, tensor in load_file(self.folder / WEIGHTS).items()}
            tensors.pop(TENSOR, None)
            tensors["fc.weight"] *= net.scale
            net.load_state_dict(tensors)
        except (OSError, SafetensorError, KeyError, RuntimeError) as error:
            raise ModelError(f"{self.folder}: not a drafter of the shape asked for, so no start for it") from error


def read_start(folder: Path, verifier: str) -> Start:
    """The drafter in `folder`, which was trained for the weights `verifier`.

    Raises:
        ModelError: no drafter K3 trained, one of another verifier, or weights that its manifest does not mean.
    """
    path = folder / MANIFEST
    try:
        manifest = DrafterManifest.model_validate_json(read_file(path, SETTINGS_LIMIT))
    except ValidationError as error:
        raise ModelError(f"{path}: not the manifest of a drafter K3 trained; start from another folder") from error
    if manifest.verifier_weights != verifier:
        raise ModelError(f"{path}: for another verifier, {manifest.verifier}; start from a drafter of this one")
    if weights_digest(folder) != manifest.weights:
        raise ModelError(f"{folder}: weights that its manifest does not mean; start from an unchanged drafter")
    return Start(folder, manifest)
