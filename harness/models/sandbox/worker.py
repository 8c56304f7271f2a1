"""The process apart: renders chat templates and tries tokenizers, one request a line, one answer a line.

Started by `harness.models.sandbox.sandbox`; holds nothing worth taking, and bounds itself before each request: the
operating system ends it where it takes more processor time, and refuses it more memory.
"""

import json
import os
import resource
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from harness.models.library_errors import reason_of
from harness.models.sandbox.bounds import BOUNDS, MOST_ADDED, Bound
from reports.untrusted.one_line import one_line

Request = dict[str, Any]


def render(request: Request) -> dict[str, Any]:
    """The text of a conversation by a Jinja template, in the sandboxed environment that transformers has for them."""
    from transformers.utils.chat_template_utils import render_jinja_template

    (text,), _ = render_jinja_template(
        conversations=[request["messages"]],
        chat_template=request["template"],
        add_generation_prompt=True,
        **request["variables"],
    )
    given = sum(len(message["content"]) for message in request["messages"])
    if len(text) > given + MOST_ADDED:
        raise ValueError(f"makes {len(text)} characters of {given}")
    text.encode("utf-8")  # refuses half a character, at which a tokenizer would stop
    return {"text": text}


def try_tokenizer(request: Request) -> dict[str, Any]:
    """How many tokens each text becomes, where a tokenizer.json can be loaded, splits texts and joins them again."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(request["file"])
    counts = []
    for text in request["texts"]:
        ids = tokenizer.encode(text).ids
        tokenizer.decode(ids)
        counts.append(len(ids))
    return {"tokens": counts}


TASKS: dict[str, Callable[[Request], dict[str, Any]]] = {"render": render, "try_tokenizer": try_tokenizer}
LIBRARIES = {"render": "transformers.utils.chat_template_utils", "try_tokenizer": "tokenizers"}
"""What a task imports, which is no part of what it may take."""


def bound(limits: Bound) -> None:
    """Bound what this process may take from here on, beyond what it has taken."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + limits.seconds
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    if sys.platform == "linux":  # macOS sets no bound to an address space; there, who asks watches (see `sandbox`)
        with open("/proc/self/statm") as file:
            mapped = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (mapped + limits.memory, resource.RLIM_INFINITY))


def answer(request: Request) -> dict[str, Any]:
    """The result of a request, or the reason why there is none."""
    task = request["task"]
    import_module(LIBRARIES[task])
    bound(BOUNDS[task])
    try:
        return TASKS[task](request)
    except MemoryError:
        return {"error": f"takes more than {BOUNDS[task].memory >> 20} MB of memory"}
    except BaseException as error:  # a panic of Rust's is no Exception; nothing else reaches here
        return {"error": one_line(reason_of(error), 200)}


def main() -> None:
    """Answer until the asking process closes its end."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
