"""Taking back what a block wrote into caches, exactly or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import KVCache

from harness.base.errors import EngineError


def trim(caches: Sequence[Any], count: int) -> None:
    """Take the newest `count` positions out of every cache.

    mlx-lm's `trim_prompt_cache` returns 0 for a wrapped ring and changes nothing; here that is an error.

    Raises:
        EngineError: a cache cannot be trimmed (a wrapped ring, a recurrent state), or trimmed less than asked for.
    """
    if count == 0:
        return
    for index, cache in enumerate(caches):
        if not cache.is_trimmable():
            raise EngineError(f"layer {index}: a {type(cache).__name__} in this state cannot be trimmed exactly")
    for index, cache in enumerate(caches):
        trimmed = cache.trim(count)
        if trimmed != count:
            raise EngineError(f"layer {index}: {trimmed} of {count} positions were trimmed; the cache is now wrong")


@dataclass(frozen=True)
class Snapshot:
    """A cache's attributes before a block."""

    cache: Any
    attributes: dict[str, Any]

    @classmethod
    def take(cls, cache: Any) -> "Snapshot":
        """Remember `cache`.

        A plain cache writes only behind its offset, so its offset is enough. A ring writes over itself, in place for
        every holder of its arrays, so they are copied.
        """
        if type(cache) is KVCache:
            return cls(cache, {"offset": cache.offset})
        copies = {
            name: mx.array(value) if isinstance(value, mx.array) else value for name, value in vars(cache).items()
        }
        return cls(cache, copies)

    def arrays(self) -> list[mx.array]:
        """The copies, to be evaluated before the block begins."""
        return [value for value in self.attributes.values() if isinstance(value, mx.array)]

    def restore(self) -> None:
        """Put the state back. Once only: a ring takes the copies over and will write into them."""
        vars(self.cache).update(self.attributes)
