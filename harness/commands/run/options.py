"""The options that all commands which run something share."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from reports.plugins.vocabulary import Vocabulary
from reports.untrusted.nearest import unknown

Model = Annotated[str, typer.Option("--model", help="A name of `k3 models list`, a folder, ${ENV:VAR} or a hub id.")]
Samples = Annotated[int, typer.Option("--samples", help="Distinct prompts.")]
Repeats = Annotated[int, typer.Option("--repeats", help="Repeats of every prompt in each process.")]
Processes = Annotated[int, typer.Option("--processes", help="Times the models are loaded anew and all is run.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the prompts.")]
Items = Annotated[int, typer.Option("--items", help="Mean number of items a file shows before the cut.")]
BlockSize = Annotated[int, typer.Option("--block-size", help="The last committed token and the drafts after it.")]
Out = Annotated[Path | None, typer.Option("--out", help="Report file; default: a new one in k3-runs/.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Print each claim by name, with the rules' codes.")]
Dry = Annotated[bool, typer.Option("--plan", help="Print what would run and what is missing; load nothing.")]


def choice(words: Collection[str], told: str, *flags: str, shown: Collection[str] = ()) -> Any:
    """An option that takes one of `words`; its help shows them, or `shown` alone, after what is `told`. Of another
    value the nearest word is named."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in words:
            problem = words.problem(value) if isinstance(words, Vocabulary) else None
            raise typer.BadParameter(problem or unknown("value", value, words))
        return value

    return typer.Option(*flags, metavar=f"[{'|'.join(shown or words)}]", help=told, callback=check)
