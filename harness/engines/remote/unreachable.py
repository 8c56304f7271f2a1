"""Why no session server answers at an address, found by looking there: gRPC's own words tell it to its authors."""

import socket
import ssl

from harness.engines.remote.credentials import Credentials
from harness.engines.spec import host_and_port
from reports.untrusted.one_line import one_line

LOOK_S = 3.0
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""How a client of HTTP/2 begins (RFC 9113, 3.4): the preface, then an empty SETTINGS frame."""
SETTINGS = 4
"""The type of the first frame that a server of HTTP/2 sends, in its fourth byte."""
NO_TLS = ("WRONG_VERSION_NUMBER", "UNEXPECTED_EOF_WHILE_READING", "RECORD_LAYER_FAILURE")
NOT_OURS = "check the address: `k3 serve` prints its own"


def why_unreachable(address: str, credentials: Credentials) -> str | None:
    """What is wrong there, and what to do; none where a server of HTTP/2 answers as it should.

    Raises:
        CannotRunError: a certificate cannot be read.
    """
    context = credentials.context()
    place = host_and_port(address)
    if place is None:
        return "is no HOST:PORT, like 127.0.0.1:50051"
    try:
        if context is not None:
            return _over_tls(place, context, proves=credentials.key is not None)
        return _plain(place)
    except (socket.gaierror, ValueError):  # ValueError: no machine can have such a name, as with 64 letters and no dot
        return "no machine of that name is known; check the address"
    except ConnectionRefusedError:
        return "nothing listens there; start `k3 serve` there, or check the address"
    except TimeoutError:
        return f"says nothing within {LOOK_S:g} s; {NOT_OURS}"
    except OSError as error:
        return f"cannot be reached ({one_line(error.strerror or str(error), 100)}); check the address"


def _plain(place: tuple[str, int]) -> str | None:
    with socket.create_connection(place, LOOK_S) as there:
        there.sendall(PREFACE)
        try:
            said = there.recv(9)
        except ConnectionResetError:
            said = b""
    if said.lower().startswith((b"http/", b"<!doctype", b"<html")):
        return f"a server of HTTP/1 answers there, which speaks no gRPC; {NOT_OURS}"
    if len(said) == 9 and said[3] == SETTINGS:
        return None
    if _speaks_tls(place):
        return "the server speaks TLS; name the authority that signed its certificate (tls_ca)"
    return f"what answers there speaks no gRPC; {NOT_OURS}"


def _speaks_tls(place: tuple[str, int]) -> bool:
    anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    anybody.set_alpn_protocols(["h2"])
    try:
        with socket.create_connection(place, LOOK_S) as there, anybody.wrap_socket(there):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except OSError:
        return False


def _over_tls(place: tuple[str, int], context: ssl.SSLContext, proves: bool) -> str | None:
    """Servers refuse the certificate of a client after the handshake is done, with the first bytes they send."""
    greeted = False
    try:
        there = socket.create_connection(place, LOOK_S)
        with there, context.wrap_socket(there, server_hostname=place[0]) as private:
            greeted = True
            private.sendall(PREFACE)
            said = private.recv(9)
    except ssl.SSLCertVerificationError as error:
        return f"its certificate is not to be trusted: {one_line(error.verify_message, 150)}; is tls_ca its authority?"
    except ssl.SSLError as error:
        reason = error.reason or ""
        if not greeted and reason in NO_TLS:
            return "the server speaks no TLS; leave tls_ca out, or start it with --tls-key and --tls-certificate"
        if not greeted and "ALERT" not in reason:
            return f"no TLS connection comes about ({one_line(reason, 80)}); {NOT_OURS}"
        said = b""
    except ConnectionResetError:
        said = b""
    if said:
        return None if len(said) == 9 and said[3] == SETTINGS else f"what answers there speaks no gRPC; {NOT_OURS}"
    if proves:
        return "the server refuses this client's certificate; is it in date, and signed by its --tls-client-ca?"
    return "the server wants a certificate of its client; give one with its key (tls_certificate, tls_key)"
