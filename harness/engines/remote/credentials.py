"""What proves two machines to each other: a token, and certificates in PEM files, which are read and checked here."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from harness.base.errors import CannotRunError
from harness.engines.remote.token_file import read_token
from harness.engines.spec import RemoteSpec

LARGEST_PEM = 2**20
"""Bytes of a file with keys or certificates; a bundle of all public authorities has 250 kB."""


@dataclass(frozen=True)
class Credentials:
    """What a server may want. With `authority`, who signs its certificate, the connection is TLS; with `key` and
    `certificate`, both or none, the client proves itself, too (mTLS)."""

    token: str | None = field(default=None, repr=False)
    authority: Path | None = None
    key: Path | None = None
    certificate: Path | None = None

    def context(self) -> ssl.SSLContext | None:
        """The same for a connection of the standard library's; none without TLS.

        Raises:
            CannotRunError: a file cannot be read, or is no such PEM.
        """
        return None if self.authority is None else tls_context(self.authority, self.key, self.certificate)

    def for_channel(self) -> grpc.ChannelCredentials | None:
        """The same for a channel of gRPC's, which finds no fault with files that hold nothing.

        Raises:
            CannotRunError: as `context`.
        """
        if self.context() is None or self.authority is None:
            return None
        pair = [read_pem(path) if path is not None else None for path in (self.key, self.certificate)]
        return grpc.ssl_channel_credentials(read_pem(self.authority), *pair)


def credentials_of(spec: RemoteSpec) -> Credentials:
    """What a preset names for its server, with `~` for the home folder.

    Raises:
        CannotRunError: the token cannot be read.
    """
    token = read_token(Path(spec.token_file).expanduser()) if spec.token_file is not None else None
    files = (spec.tls_ca, spec.tls_key, spec.tls_certificate)
    return Credentials(token, *(Path(name).expanduser() if name is not None else None for name in files))


def tls_context(authority: Path | None, key: Path | None, certificate: Path | None) -> ssl.SSLContext:
    """A client's side of TLS, as gRPC has it (ALPN h2), which trusts `authority` alone and proves itself by the pair.

    Raises:
        CannotRunError: a file cannot be read, is no such PEM, or the key is not the certificate's.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["h2"])
    if authority is not None:
        try:
            context.load_verify_locations(cadata=read_pem(authority).decode("ascii"))
        except (ssl.SSLError, ValueError) as error:
            raise CannotRunError(f"{authority}: holds no certificate of an authority in PEM") from error
    if key is not None and certificate is not None:
        read_pem(key), read_pem(certificate)
        try:
            context.load_cert_chain(certificate, key, password=lambda: "")
        except (ssl.SSLError, ValueError, OSError) as error:
            message = f"{certificate}, {key}: no certificate and its key in PEM, without a passphrase"
            raise CannotRunError(message) from error
    return context


def read_pem(path: Path) -> bytes:
    """A file with keys or certificates.

    Raises:
        CannotRunError: it cannot be read, or is too large to be one.
    """
    try:
        with path.open("rb") as file:
            read = file.read(LARGEST_PEM + 1)
    except OSError as error:
        raise CannotRunError(f"{path}: cannot be read ({error.strerror})") from error
    if len(read) > LARGEST_PEM:
        raise CannotRunError(f"{path}: over {LARGEST_PEM >> 20} MiB, which no PEM file has")
    return read
