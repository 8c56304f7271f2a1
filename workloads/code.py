"""Code to complete: seeded files of our own in several languages, cut inside a series that goes on predictably.

Each file is a series of similar items (test cases, accessors, table rows, handlers), as real code often is; the
model is given the first ones and continues. There is no right answer, so recall does not apply; what is measured is
throughput.
Sizes are in items shown: `items = 12` draws each file between 9 and 15.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from workloads.base import SYNTHETIC, Prompt, PromptStyle, Tokenizer

GENERATOR_VERSION = 1
Template = Callable[[list[str], random.Random], str]
"""A file of items with these names."""
NOUNS = (
    "account", "address", "amount", "batch", "branch", "budget", "channel", "client", "column", "contact", "counter",
    "country", "customer", "deadline", "delivery", "device", "discount", "document", "driver", "email", "event",
    "folder", "group", "image", "invoice", "item", "label", "language", "level", "limit", "location", "member",
    "message", "meter", "model", "order", "owner", "package", "partner", "payment", "period", "phone", "price",
    "product", "profile", "project", "quota", "region", "report", "request", "route", "sample", "schedule", "score",
    "sensor", "server", "session", "shipment", "signal", "status", "stock", "team", "ticket", "token", "user",
    "vehicle", "vendor", "version", "volume", "weight",
)  # fmt: skip


@dataclass(frozen=True)
class Code:
    """The settings of a code run. `items`: mean number of items shown before the cut."""

    items: int
    samples: int
    seed: int

    name = "code"
    style: ClassVar[PromptStyle] = "completion"
    form = SYNTHETIC
    texts = None
    generator_version = GENERATOR_VERSION

    def prompts(self, tokenizer: Tokenizer) -> tuple[Prompt, ...]:
        """One prompt a sample; languages take turns, names and sizes are drawn."""
        made = []
        for sample in range(self.samples):
            rng = random.Random(f"code/{self.generator_version}/{self.seed}/{sample}")
            template = TEMPLATES[sample % len(TEMPLATES)]
            count = rng.randint(max(2, round(self.items * 0.75)), max(2, round(self.items * 1.25)))
            text = template(rng.sample(NOUNS, count), rng)
            tokens = tuple(tokenizer.encode(tokenizer.bos + text))
            made.append(Prompt(sample, "main", tokens, group=group_of(template)))
        return tuple(made)


def group_of(template: Template) -> str:
    """The group of every prompt that `template` makes."""
    return f"{SYNTHETIC}/{template.__name__}"


def python_tests(names: list[str], rng: random.Random) -> str:
    """A unittest class with one test a field."""
    subject = rng.choice(("Record", "Payload", "Settings", "Entry"))
    tests = (
        f"    def test_{name}_is_kept(self):\n        value = {subject}({name}={number})\n"
        f"        self.assertEqual(value.{name}, {number})\n"
        for number, name in enumerate(names, start=rng.randint(1, 5))
    )
    return f"import unittest\n\n\nclass {subject}Test(unittest.TestCase):\n" + "\n".join(tests) + "\n    def test_"


def python_properties(names: list[str], rng: random.Random) -> str:
    """A class with one read-only property a field."""
    subject = rng.choice(("Customer", "Order", "Machine", "Trip"))
    properties = (
        f'    @property\n    def {name}(self):\n        """The {name} of this object."""\n'
        f'        return self._data["{name}"]\n'
        for name in names
    )
    head = f"class {subject}:\n    def __init__(self, data):\n        self._data = data\n\n"
    return head + "\n".join(properties) + "\n    @property\n    def "


def javascript_handlers(names: list[str], rng: random.Random) -> str:
    """An express router with one handler a resource."""
    verb = rng.choice(("get", "delete"))
    handlers = (
        f'router.{verb}("/{name}/:id", async (request, response) => {{\n'
        f"  const {name} = await store.{name}.find(request.params.id);\n"
        f"  response.json({{ {name} }});\n}});\n"
        for name in names
    )
    return (
        'const express = require("express");\nconst router = express.Router();\n\n' + "\n".join(handlers) + "\nrouter."
    )


def sql_rows(names: list[str], rng: random.Random) -> str:
    """One insert statement a row."""
    table = rng.choice(("settings", "features", "labels"))
    rows = (
        f"INSERT INTO {table} (id, name, enabled) VALUES ({number}, '{name}', TRUE);"
        for number, name in enumerate(names, start=1)
    )
    head = f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, enabled BOOLEAN);\n"
    return head + "\n".join(rows) + "\nINSERT INTO"


def c_switch(names: list[str], rng: random.Random) -> str:
    """A switch that names the values of an enumeration."""
    prefix = rng.choice(("KIND", "FIELD", "EVENT"))
    cases = (f'    case {prefix}_{name.upper()}:\n        return "{name}";' for name in names)
    return "const char *name_of(int value)\n{\n    switch (value) {\n" + "\n".join(cases) + f"\n    case {prefix}_"


def go_getters(names: list[str], rng: random.Random) -> str:
    """One getter a field, with its comment."""
    subject = rng.choice(("Config", "Report", "Node"))
    getters = (
        f"// Get{name.capitalize()} returns the {name}.\n"
        f"func (c *{subject}) Get{name.capitalize()}() string {{\n\treturn c.{name}\n}}\n"
        for name in names
    )
    return "package main\n\n" + "\n".join(getters) + "\n// Get"


TEMPLATES: tuple[Template, ...] = (
    python_tests,
    javascript_handlers,
    sql_rows,
    python_properties,
    c_switch,
    go_getters,
)
