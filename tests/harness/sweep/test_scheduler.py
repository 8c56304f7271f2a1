"""Which schedulers are gone to: by default those that only this machine can reach."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.errors import CannotRunError, UsageError
from harness.sweep.scheduler import Certificates, check_address, existing, local, read_address

PEM = Certificates(Path("ca.pem"), Path("cert.pem"), Path("key.pem"))


@pytest.mark.parametrize(
    ("text", "dask", "loopback"),
    [
        ("127.0.0.1:8786", "tcp://127.0.0.1:8786", True),
        ("localhost:1", "tcp://localhost:1", True),
        ("tcp://[::1]:8786", "tcp://[::1]:8786", True),
        ("tls://gpu-1.example:8786", "tls://gpu-1.example:8786", False),
        ("tcp://0.0.0.0:8786", "tcp://0.0.0.0:8786", False),
        ("127.0.0.1.example:8786", "tcp://127.0.0.1.example:8786", False),
    ],
)
def test_an_address_is_told_apart(text: str, dask: str, loopback: bool) -> None:
    found = read_address(text)
    assert (found.text, found.loopback, found.encrypted) == (dask, loopback, dask.startswith("tls"))


@pytest.mark.parametrize(
    "text", ["", "host", "host:0", "host:99999", "inproc://a", "ws://a:1", "a b:1", "-x:1\n", "u@h:1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--scheduler"):
        read_address(text)


def test_elsewhere_is_by_tls_unless_the_user_says_so() -> None:
    far, near, safe = map(read_address, ("10.0.0.2:8786", "127.0.0.1:8786", "tls://10.0.0.2:8786"))
    check_address(near, None, unencrypted=False)
    check_address(safe, PEM, unencrypted=False)
    check_address(far, None, unencrypted=True)
    for address, pem, why in (
        (far, None, "without TLS"),
        (safe, None, "give --tls-ca"),
        (near, PEM, "of use with tls"),
    ):
        with pytest.raises(UsageError, match=why):
            check_address(address, pem, unencrypted=False)


def test_nobody_there_is_one_line() -> None:
    with pytest.raises(CannotRunError, match="no scheduler answers there"), existing(read_address("127.0.0.1:9"), None):
        pass


def test_workers_of_our_own_listen_on_the_loopback_and_measure_with_all_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    with local(1) as client:
        seen = client.run(os.environ.get, "OMP_NUM_THREADS")
        assert list(seen.values()) == [None]
        assert all(address.startswith("tcp://127.0.0.1:") for address in seen)
        (worker,) = client.scheduler_info(n_workers=-1)["workers"].values()
        assert (worker["nthreads"], worker["resources"]) == (1, {"k3-run": 1})


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl")
def test_a_scheduler_with_tls_is_reached_with_certificates_alone(tmp_path: Path) -> None:
    from distributed import LocalCluster, Security

    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"]
    subprocess.run([*made, *subject, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    pem = str(certificate)
    security = Security(
        require_encryption=True,
        tls_ca_file=pem,
        **{f"tls_{side}_cert": pem for side in ("scheduler", "worker", "client")},
        **{f"tls_{side}_key": str(key) for side in ("scheduler", "worker", "client")},
    )
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tls://", host="127.0.0.1",
        security=security, dashboard_address=None, silence_logs=50,
    ) as cluster:  # fmt: skip
        address = read_address(cluster.scheduler_address)
        assert address.encrypted
        with existing(address, Certificates(certificate, certificate, key)) as client:
            assert client.submit(sum, [1, 2]).result(timeout=30) == 3
        plain = read_address(cluster.scheduler_address.replace("tls://", "tcp://"))
        with pytest.raises(CannotRunError, match="no scheduler answers"), existing(plain, None):
            pass
