"""Signing a payload, and finding who signed one."""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from harness.attestation.dsse import Envelope, Signature, pre_auth_encoding
from harness.attestation.errors import AttestationError
from harness.attestation.keys import TrustedKeys, key_id


def sign(payload: bytes, key: Ed25519PrivateKey) -> Envelope:
    """The payload in an envelope with one signature."""
    signature = Signature(key_id(key.public_key()), key.sign(pre_auth_encoding(payload)))
    return Envelope(payload, (signature,))


def signer_of(envelope: Envelope, trusted: TrustedKeys) -> str:
    """The id of the first trusted key that signed the payload. What an envelope calls a key decides only which
    ones are tried.

    Raises:
        AttestationError: none did.
    """
    signed = pre_auth_encoding(envelope.payload)
    for signature in envelope.signatures:
        tried = (signature.key_id,) if signature.key_id else tuple(trusted)
        for name in tried:
            if name in trusted and _verifies(trusted, name, signature.value, signed):
                return name
    if any(signature.key_id in trusted for signature in envelope.signatures):
        raise AttestationError("the signature is not of this statement: one of the two was changed")
    raise AttestationError("no signature is of a trusted key")


def _verifies(trusted: TrustedKeys, name: str, signature: bytes, signed: bytes) -> bool:
    try:
        trusted[name].verify(signature, signed)
    except InvalidSignature:
        return False
    return True
