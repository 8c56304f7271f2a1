"""What weights were trained on: enough to tell whether a prompt is of a kind that they saw."""

from typing import Self

from pydantic import Field

from reports.records.record import Count, Digest, Name, Record, digest_of


class Recipe(Record):
    """The text that weights were trained on, stage by stage, as far as it is known."""

    generator: Name = Field(description="What made the text, or chose it")
    groups: tuple[Name, ...] = Field(
        max_length=20_000,
        description="kind/name of all templates and documents in it, sorted, as prompts name theirs",
    )
    seeds: tuple[Count, ...] = Field((), description="The generator's, one a stage")
    prompts: tuple[Digest, ...] = Field((), description="Of the token ids that were given, one a stage")
    texts: tuple[Digest, ...] = Field((), description="Of files of the user's own, where some were given")
    unknown: tuple[Name, ...] = Field(
        (), description="What cannot be said of it; while there is any, no group is known to be unseen"
    )

    @property
    def digest(self) -> str:
        """sha256 over the recipe as JSON, its fields in their declared order."""
        return digest_of(self.model_dump_json().encode())

    def after(self, before: Self | None) -> Self:
        """The recipe of weights that went on from others of the recipe `before`; none is one that nobody wrote down."""
        if before is None:
            return self.replace(unknown=(*self.unknown, "what the weights that it goes on from were trained on"))
        return self.replace(
            groups=tuple(sorted({*before.groups, *self.groups})),
            seeds=(*before.seeds, *self.seeds),
            prompts=(*before.prompts, *self.prompts),
            texts=tuple(dict.fromkeys((*before.texts, *self.texts))),
            unknown=(*before.unknown, *self.unknown),
        )
