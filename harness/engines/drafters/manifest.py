"""What the manifest beside a drafter's weights promises, held against the weights and the verifier at hand."""

from pathlib import Path

from harness.base.errors import EngineError, ModelError
from harness.engines.base import LoadedVerifier
from harness.models.folder.digest import weights_digest
from harness.models.folder.files import read_object

MANIFEST = "manifest.json"


def check_manifest(folder: Path, weights: str, verifier: LoadedVerifier) -> None:
    """See that `folder`'s manifest, if it has one, means weights of the digest `weights` and this verifier.

    Published checkpoints have none; a drafter that K3 trained has one, and another verifier's drafts mean nothing.

    Raises:
        ModelError: the manifest cannot be read, or means other weights.
        EngineError: the drafter was trained for another verifier.
    """
    path = folder / MANIFEST
    if not path.exists():
        return
    stated = read_object(path)
    try:
        meant, trained_for, name = stated["weights"], stated["verifier_weights"], stated["verifier"]
    except KeyError as error:
        raise ModelError(f"{path}: not the manifest of a drafter: train it again, or delete the file") from error
    if meant != weights:
        raise ModelError(f"{path}: weights: means {str(meant)[:23]}, the files are {weights[:23]}: not of one drafter")
    if verifier.folder is not None and trained_for != weights_digest(verifier.folder):
        raise EngineError(f"{path}: verifier_weights: trained for another verifier, {name}: use it with that one")
