"""A workload: tables of a database to continue, a row an entry."""

import random
from dataclasses import dataclass
from typing import ClassVar

import k3

TABLES = ("settings", "features", "labels", "orders", "devices", "clients")
NAMES = (
    "amount",
    "batch",
    "contact",
    "device",
    "email",
    "folder",
    "group",
    "invoice",
    "label",
    "member",
    "order",
    "phone",
)


@dataclass(frozen=True)
class Tables:
    """K3 calls it with `samples` and `seed`."""

    samples: int
    seed: int

    name: ClassVar[str] = "code"
    form: ClassVar[str] = "tables"
    style: ClassVar[str] = "completion"
    texts: ClassVar[k3.Texts | None] = None
    generator_version: ClassVar[int] = 1

    def prompts(self, tokenizer: k3.Tokenizer) -> tuple[k3.Prompt, ...]:
        return tuple(self._prompt(sample, tokenizer) for sample in range(self.samples))

    def _prompt(self, sample: int, tokenizer: k3.Tokenizer) -> k3.Prompt:
        rng = random.Random(f"tables/{self.seed}/{sample}")
        table = TABLES[sample % len(TABLES)]
        rows = (
            f"INSERT INTO {table} (id, name, enabled) VALUES ({number}, '{name}', TRUE);\n"
            for number, name in enumerate(rng.sample(NAMES, 8), start=rng.randint(1, 60))
        )
        tokens = tuple(tokenizer.encode(tokenizer.bos + "".join(rows) + "INSERT INTO"))
        return k3.Prompt(sample, "main", tokens, group=f"tables/{table}")
