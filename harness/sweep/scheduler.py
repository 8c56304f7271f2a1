"""The scheduler of a sweep: one of its own on this machine, or one that is there, by its address.

Dask sends functions and data as pickles: whoever reaches a scheduler or a worker runs code there. So a scheduler of our
own listens on the loopback alone, and one elsewhere must be reached by TLS with certificates of both sides.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import CannotRunError, UsageError
from harness.engines.spec import is_loopback
from harness.sweep.tasks import RUN
from reports.untrusted.one_line import one_line

CONNECT_S = 10
_ADDRESS = re.compile(r"(?:(tcp|tls)://)?(\[[0-9a-fA-F:]{2,45}\]|[A-Za-z0-9.-]{1,253}):([0-9]{1,5})")


@dataclass(frozen=True)
class Certificates:
    """PEM files: who signs certificates, this side's certificate, and its key."""

    authority: Path
    certificate: Path
    key: Path


@dataclass(frozen=True)
class Address:
    """Where a scheduler listens; `text` is as Dask reads it."""

    text: str
    encrypted: bool
    loopback: bool


def read_address(text: str) -> Address:
    """What a user gave as a scheduler's address.

    Raises:
        UsageError: neither HOST:PORT, tcp://HOST:PORT nor tls://HOST:PORT.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None or not 0 < int(found[3]) < 65536:
        raise UsageError(
            f"--scheduler {one_line(text, 100)!r}: give tls://HOST:PORT, or tcp://HOST:PORT on this machine"
        )
    host = found[2].strip("[]")
    return Address(f"{found[1] or 'tcp'}://{found[2]}:{found[3]}", found[1] == "tls", is_loopback(host))


def check_address(address: Address, certificates: Certificates | None, *, unencrypted: bool) -> None:
    """Refuse a scheduler that anybody on the way could speak for.

    Raises:
        UsageError: it is not on this machine and has no TLS, and the user did not ask for that; or certificates are
            missing, or are of no use.
    """
    if address.encrypted and certificates is None:
        raise UsageError(f"{address.text}: give --tls-ca, --tls-cert and --tls-key")
    if not address.encrypted and certificates is not None:
        raise UsageError(f"{address.text}: certificates are of use with tls:// alone")
    if not (address.encrypted or address.loopback or unencrypted):
        raise UsageError(
            f"{address.text}: not on this machine and without TLS: whoever is on the way could run code on every "
            "worker and here; use tls://, or --unencrypted on a network of your own"
        )


@contextmanager
def existing(address: Address, certificates: Certificates | None) -> Iterator[Any]:
    """A client of a scheduler that is there.

    Raises:
        CannotRunError: it does not answer, or the certificates cannot be used.
    """
    from distributed import Client, Security

    security = None
    if certificates is not None:
        authority, own, key = map(str, (certificates.authority, certificates.certificate, certificates.key))
        security = Security(require_encryption=True, tls_ca_file=authority, tls_client_cert=own, tls_client_key=key)
    try:
        client = Client(address.text, security=security, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise CannotRunError(f"{address.text}: no scheduler answers there ({one_line(str(error), 200)})") from error
    try:
        yield client
    finally:
        client.close(timeout=CONNECT_S)


@contextmanager
def local(workers: int) -> Iterator[Any]:
    """A client of a scheduler and workers of our own, on the loopback: processes of one thread each, which are started
    again when they die."""
    import dask
    from distributed import Client, LocalCluster

    # What Dask would set in workers before they start: a thread a library. A run measures with those of the machine.
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": {}}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            protocol="tcp://",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            resources={RUN: 1},
            silence_logs=50,
        ) as cluster,
        Client(cluster, set_as_default=False, timeout=60) as client,
    ):
        yield client
