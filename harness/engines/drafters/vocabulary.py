"""A draft model beside its verifier: which tokens they share, and whether they mean the same by them."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.errors import EngineError
from harness.engines.base import LoadedVerifier

AHEAD = 2
"""Committed tokens that wait for the next proposal instead of a forward of their own: the last draft of a block that
was accepted whole, and the verifier's token that a block without drafts committed."""
PROBE = "def main():\n    return 1  # Ωmega, 2 %\n"


@dataclass(frozen=True)
class Rows:
    """Rows for tokens of a draft model and of its verifier. Models of one tokenizer are padded to different counts; no
    text has the tokens of the padding."""

    draft: int
    verifier: int

    @property
    def shared(self) -> int:
        """Rows that both have: what may be drafted."""
        return min(self.draft, self.verifier)

    def readable(self, tokens: Sequence[int]) -> list[int]:
        """Tokens as the draft model reads them, (n,); one that it has no row for is read as its last."""
        return [min(token, self.draft - 1) for token in tokens]


def rows_of(drafting: LoadedVerifier, verifier: LoadedVerifier) -> Rows:
    """The rows of both.

    Raises:
        EngineError: their vocabularies are not one.
    """
    rows = Rows(drafting.architecture.vocab, verifier.architecture.vocab)
    if rows.draft != rows.verifier and not _one_vocabulary(drafting, verifier, rows.shared):
        raise EngineError(
            f"drafter: a vocabulary of {rows.draft} tokens, the verifier's has {rows.verifier}, "
            "and that is no padding: their tokenizers differ"
        )
    return rows


def check_tokenizers(drafting: LoadedVerifier, verifier: LoadedVerifier) -> None:
    """Raises: EngineError: they split a text into other token ids."""
    if verifier.tokenizer is not None and drafting.tokenizer.encode(PROBE) != verifier.tokenizer.encode(PROBE):
        raise EngineError("drafter: its tokenizer gives other token ids than the verifier's; drafts mean nothing")


def _one_vocabulary(drafting: LoadedVerifier, verifier: LoadedVerifier, rows: int) -> bool:
    """Both have the same tokenizer, whose every token has one of `rows`."""
    if drafting.tokenizer is None or verifier.tokenizer is None:
        return False
    ours: dict[str, int] = drafting.tokenizer.get_vocab()
    return ours == verifier.tokenizer.get_vocab() and max(ours.values(), default=0) < rows
