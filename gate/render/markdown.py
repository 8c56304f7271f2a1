"""Text from reports inside Markdown."""

import html
import re

from reports.untrusted.one_line import one_line

_MARKUP = re.compile(r"[\\`*_{}\[\]()#!|~:@]|(?<=www)\.|\A[-+]|(?:(?<=\A\d)|(?<=\A\d\d))\.", re.IGNORECASE)


def markdown_text(text: str) -> str:
    """`text` so that Markdown shows it as it stands: one line, no markup, no tags, no links, no mentions."""
    return html.escape(_MARKUP.sub(r"\\\g<0>", one_line(text, 2000)), quote=False)
