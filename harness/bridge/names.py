"""Names on the bridge: branches of requests, and what may be handed to git as a ref or a remote."""

import re
import secrets
from dataclasses import dataclass

from harness.base.errors import UsageError
from reports.untrusted.one_line import one_line

PREFIX = "k3-bridge/"
PRESET = r"[a-z0-9][a-z0-9_-]{0,39}"
NONCE = r"[0-9a-f]{16}"
COMMIT = r"[0-9a-f]{40}"
_BRANCH = re.compile(rf"{PREFIX}({PRESET})-({NONCE})")
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./~^-]{0,199}")
_REMOTE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class RequestName:
    """What a request is called: its branch is `k3-bridge/<preset>-<nonce>`."""

    preset: str
    nonce: str

    @property
    def short(self) -> str:
        """As users are told it, and name it."""
        return f"{self.preset}-{self.nonce}"

    @property
    def branch(self) -> str:
        """The branch, without refs/heads/."""
        return PREFIX + self.short


def new_nonce() -> str:
    """16 hex digits that nobody guesses."""
    return secrets.token_hex(8)


def name_of(branch: str) -> RequestName | None:
    """The request that a branch is named after; None for every other branch."""
    match = _BRANCH.fullmatch(branch)
    return RequestName(match[1], match[2]) if match else None


def request_named(text: str) -> RequestName:
    """The request that a user names by its branch, or by what comes after `k3-bridge/`.

    Raises:
        UsageError: it has not the form of one.
    """
    found = name_of(text) or name_of(PREFIX + text)
    if found is None:
        raise UsageError(f"request {one_line(text)!r}: not of the form PRESET-NONCE; `k3 bridge status` lists them")
    return found


def check_nonce(text: str) -> str:
    """`text`, if it is a nonce.

    Raises:
        UsageError: it is none.
    """
    if not re.fullmatch(NONCE, text):
        raise UsageError(f"nonce {one_line(text)!r}: give 16 digits of 0-9 and a-f, or leave it out")
    return text


def check_ref(text: str) -> str:
    """`text`, if it can be the name of a commit and nothing else: no option, no range, no reflog, no search.

    Raises:
        UsageError: it cannot.
    """
    if not _REF.fullmatch(text) or ".." in text or "//" in text:
        raise UsageError(f"--ref {one_line(text)!r}: give a branch, a tag or a commit")
    return text


def check_remote(text: str) -> str:
    """`text`, if it can be the name of a remote: never an address, which could ask git for more than to connect.

    Raises:
        UsageError: it cannot.
    """
    if not _REMOTE.fullmatch(text) or ".." in text:
        raise UsageError(f"--remote {one_line(text)!r}: give the name of a remote, as `git remote` lists them")
    return text
