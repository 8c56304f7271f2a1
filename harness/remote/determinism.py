"""INV-3: the same history gives the same token, however it was built up and whichever session holds it."""

from collections import OrderedDict

from harness.engines.remote.records import RefusedError

REMEMBERED = 65_536
"""Histories whose next token is kept to be compared; the one seen longest ago is forgotten first."""


class SeenTokens:
    """What followed each history, by its key (`History.key`), over all sessions of a server."""

    def __init__(self, size: int = REMEMBERED) -> None:
        self._size = size
        self._seen: OrderedDict[bytes, int] = OrderedDict()
        self.compared = 0

    def check(self, key: bytes, token: int, position: int) -> None:
        """Compare with what followed before, or remember it.

        Raises:
            RefusedError: INV-3 is broken.
        """
        known = self._seen.get(key)
        if known is None:
            self._seen[key] = token
            if len(self._seen) > self._size:
                self._seen.popitem(last=False)
            return
        self._seen.move_to_end(key)
        self.compared += 1
        if known != token:
            message = f"INV-3: at position {position} follows token {token}, where the same history gave {known} before"
            raise RefusedError("FAILED_PRECONDITION", message)
