"""Keys are their owner's alone, never overwritten, and of the one kind."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from harness.attestation.keys import key_id, make_key, read_private_key, read_trusted_keys
from harness.base.errors import CannotRunError, OutputError


def test_a_key_is_written_for_its_owner_and_named_by_its_public_half(tmp_path: Path) -> None:
    path = tmp_path / "key"
    made = make_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert key_id(read_private_key(path).public_key()) == made
    assert list(read_trusted_keys(tmp_path / "key.pub")) == [made]


def test_no_key_is_overwritten(tmp_path: Path) -> None:
    make_key(tmp_path / "key")
    before = (tmp_path / "key").read_bytes()
    with pytest.raises(OutputError, match="exists"):
        make_key(tmp_path / "key")
    (tmp_path / "other.pub").write_text("")
    with pytest.raises(OutputError, match="exists"):
        make_key(tmp_path / "other")
    assert not (tmp_path / "other").exists()
    assert (tmp_path / "key").read_bytes() == before
    with pytest.raises(OutputError, match="cannot be written"):
        make_key(tmp_path / "gone" / "key")


def test_half_a_pair_of_keys_is_not_left_behind(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="too long"):
        make_key(tmp_path / ("k" * 253))  # the private half has room, the public one's name is longer
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    make_key(tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(CannotRunError, match="chmod 600"):
        read_private_key(tmp_path / "key")


def private_pem(key: ec.EllipticCurvePrivateKey, encryption: serialization.KeySerializationEncryption) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)


def test_another_kind_of_key_or_a_locked_one_is_refused(tmp_path: Path) -> None:
    key, path = ec.generate_private_key(ec.SECP256R1()), tmp_path / "key"
    path.touch(mode=0o600)
    path.write_bytes(private_pem(key, serialization.NoEncryption()))
    with pytest.raises(CannotRunError, match="no Ed25519 key"):
        read_private_key(path)
    for data in (private_pem(key, serialization.BestAvailableEncryption(b"word")), b"nothing"):
        path.write_bytes(data)
        with pytest.raises(CannotRunError, match="no private key in PEM without a password"):
            read_private_key(path)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    path.write_bytes(public)
    with pytest.raises(CannotRunError, match="not Ed25519"):
        read_trusted_keys(path)


def test_several_keys_in_one_file(tmp_path: Path) -> None:
    made = [make_key(tmp_path / name) for name in ("a", "b")]
    keys = tmp_path / "keys"
    keys.write_text("alice\n" + (tmp_path / "a.pub").read_text() + "bob\n" + (tmp_path / "b.pub").read_text())
    assert list(read_trusted_keys(keys)) == made


def test_what_is_no_file_of_public_keys(tmp_path: Path) -> None:
    make_key(tmp_path / "key")
    with pytest.raises(CannotRunError, match="holds a private key"):
        read_trusted_keys(tmp_path / "key")
    (tmp_path / "keys").write_text("nobody")
    with pytest.raises(CannotRunError, match="holds no public key"):
        read_trusted_keys(tmp_path / "keys")
    (tmp_path / "keys").write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    with pytest.raises(CannotRunError, match="no public key"):
        read_trusted_keys(tmp_path / "keys")
    with pytest.raises(CannotRunError, match="cannot be read"):
        read_trusted_keys(tmp_path / "gone")
