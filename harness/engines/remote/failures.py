"""What a call that failed is to whoever made it: one line, what is wrong and what to do, without gRPC's own words."""

import grpc

from harness.engines.remote.credentials import Credentials
from harness.engines.remote.records import STATUSES, RefusedError, Status
from harness.engines.remote.unreachable import why_unreachable
from reports.untrusted.one_line import one_line

LONGEST = 300
"""Characters of what a server says that are told on."""
OF_GRPC = {
    "message larger than max": "a message is larger than the server takes; send fewer tokens at once",
    "Concurrent RPC limit exceeded": "the server has as many calls under way as it takes; try again when some are done",
    "Method not found": "the server speaks gRPC, but not K3's session protocol; check the address",
    "CANCELLED": "the server ended the call, whose frames were left unread for too long; read them as they come",
    "Locally cancelled": "no answer in time; the server is busy with other clients or hangs: its log may tell",
}
"""What the library says by itself, by a part of it, and what it means here."""


def told_failure(
    error: grpc.RpcError, address: str, given: Credentials, deadline_s: float | None, *, reached: bool
) -> RefusedError:
    """The error of a call to `address`. `reached`: calls before it came through, so that the server was there.

    Raises:
        CannotRunError: a certificate cannot be read.
    """
    code = error.code().name if isinstance(error, grpc.Call) else "UNKNOWN"
    details = (error.details() if isinstance(error, grpc.Call) else None) or code
    status: Status = code if code in STATUSES else "UNKNOWN"  # type: ignore[assignment]
    return RefusedError(status, _said(code, one_line(details, LONGEST), address, given, deadline_s, reached))


def _said(code: str, details: str, address: str, given: Credentials, deadline_s: float | None, reached: bool) -> str:
    if code == "UNAUTHENTICATED":
        if given.token is None:
            return "the server wants a token; name the file that holds it (token_file)"
        return "the server has another token; give the file that it was started with (token_file)"
    late = f"no answer within {deadline_s:g} s" if deadline_s is not None else "no answer in time"
    if code == "DEADLINE_EXCEEDED" and reached:
        return f"{late}; the server is busy with other clients or hangs: its log may tell"
    if code in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
        why = why_unreachable(address, given)
        if code == "DEADLINE_EXCEEDED":
            return why or f"{late}, though a server of gRPC is there; check the address"
        if reached:
            return f"the connection broke off: {why or 'the server ended the call'}; see whether it still runs"
        return why or f"the call did not come through ({details}); try again"
    return next((meant for part, meant in OF_GRPC.items() if part in details), details)
