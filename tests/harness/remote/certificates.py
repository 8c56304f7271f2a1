"""An authority of a test's own, and certificates that it signs, as PEM files."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

YEAR = timedelta(days=365)


@dataclass(frozen=True)
class Pair:
    """A key and its certificate."""

    key: Path
    certificate: Path


class Authority:
    """Signs certificates of this machine's loopback address; `certificate` is its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._key = ec.generate_private_key(ec.SECP256R1())
        own = self._builder(name, self._key, datetime.now(UTC) + YEAR)
        own = own.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.certificate = folder / f"{name}.pem"
        self.certificate.write_bytes(own.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def sign(self, name: str, *, expired: bool = False, host: str = "127.0.0.1") -> Pair:
        """A pair for `host`; one that has expired did so yesterday."""
        key = ec.generate_private_key(ec.SECP256R1())
        until = datetime.now(UTC) + (timedelta(days=-1) if expired else YEAR)
        hosts = x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))])
        built = self._builder(name, key, until).add_extension(hosts, critical=False)
        pair = Pair(self._folder / f"{name}.key", self._folder / f"{name}.crt")
        plain = NoEncryption()
        pair.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, plain))
        pair.certificate.write_bytes(built.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))
        return pair

    def _builder(self, name: str, key: ec.EllipticCurvePrivateKey, until: datetime) -> x509.CertificateBuilder:
        issuer, subject = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, who)]) for who in (self._name, name))
        return (
            x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(until - 2 * YEAR)
            .not_valid_after(until)
        )
