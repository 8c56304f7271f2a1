"""Ed25519 keys (RFC 8032) in PEM files: a private one that its owner alone reads, public ones that are trusted."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from harness.base.errors import CannotRunError, OutputError
from reports.records.record import digest_of
from reports.untrusted.files import RefusedFileError, read_bounded

PUBLIC_SUFFIX = ".pub"
MOST_BYTES = 2**20
"""Of a file of keys."""
_PUBLIC_KEY = re.compile(rb"-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----")

TrustedKeys = Mapping[str, Ed25519PublicKey]
"""Public keys by id."""


def key_id(key: Ed25519PublicKey) -> str:
    """The digest of the public key (SubjectPublicKeyInfo, DER)."""
    encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    return digest_of(key.public_bytes(encoding, form))


def make_key(path: Path) -> str:
    """Write a new private key to `path` (mode 600) and its public key beside it; the key's id.

    Raises:
        OutputError: something is at one of the two places, or it cannot be written. A key is never overwritten.
    """
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    beside = path.parent / f"{path.name}{PUBLIC_SUFFIX}"
    if os.path.lexists(beside):
        raise OutputError(f"{beside}: exists; choose another --out, so that no key is lost")
    _write_new(private, path, 0o600)
    try:
        _write_new(public, beside, 0o644)
    except OutputError:
        path.unlink()  # nobody knows this key yet
        raise
    return key_id(key.public_key())


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """The key in a file that only its owner may read.

    Raises:
        CannotRunError: it cannot be read, others may read it, or it holds no unencrypted Ed25519 key.
    """
    data = _read(path)
    if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise CannotRunError(f"{path}: others may read this key; run `chmod 600 {path}`, or make another one")
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise CannotRunError(f"{path}: is no private key in PEM without a password; see k3 attest keygen") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise CannotRunError(f"{path}: is no Ed25519 key; see k3 attest keygen")
    return key


def read_trusted_keys(path: Path) -> TrustedKeys:
    """The public keys in a file: PEM blocks, one after the other, with any text between them.

    Raises:
        CannotRunError: it cannot be read, holds no public key, one that is not Ed25519, or a private one.
    """
    data = _read(path)
    if b"PRIVATE KEY" in data:
        raise CannotRunError(f"{path}: holds a private key; give the public one ({PUBLIC_SUFFIX})")
    found: dict[str, Ed25519PublicKey] = {}
    for block in _PUBLIC_KEY.findall(data):
        try:
            key = serialization.load_pem_public_key(block)
        except (ValueError, UnsupportedAlgorithm) as error:
            raise CannotRunError(f"{path}: holds a block that is no public key") from error
        if not isinstance(key, Ed25519PublicKey):
            raise CannotRunError(f"{path}: holds a key that is not Ed25519")
        found[key_id(key)] = key
    if not found:
        raise CannotRunError(f"{path}: holds no public key in PEM; k3 attest keygen writes one beside the private key")
    return found


def _read(path: Path) -> bytes:
    try:
        data = read_bounded(path)
    except RefusedFileError as error:
        raise CannotRunError(f"{path}: {error}") from error
    if len(data) > MOST_BYTES:
        raise CannotRunError(f"{path}: is {len(data)} bytes; a file of keys has at most {MOST_BYTES}")
    return data


def _write_new(data: bytes, path: Path, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(descriptor)
        except OSError:
            path.unlink()
            raise
    except FileExistsError as error:
        raise OutputError(f"{path}: exists; choose another --out, so that no key is lost") from error
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); choose another --out") from error
