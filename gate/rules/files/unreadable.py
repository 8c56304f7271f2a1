"""Files that the file system does not hand over."""

from gate.rulebook.registry import outside_rule
from gate.rulebook.rule import Example

UNREADABLE = outside_rule(
    "UNREADABLE",
    title="A file that cannot be opened",
    catches="A path that does not exist, a folder or a device named like a report, a link that loops or leaves its "
    "folder, a file without permission or gone before it was read.",
    why="What was not read was not judged; a build must not pass on evidence that is not there.",
    fix="Name a readable file. Nothing is known of this one, so the exit code is 3 if nothing else is wrong.",
    severity="invalid",
    example=Example(bad="a link that leads back to itself", good="a file that can be read"),
)
