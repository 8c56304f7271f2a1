"""Files of which nothing may be said: not opened, of no schema or an old one, or taken back."""

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

SCHEMA_INVALID = outside_rule(
    "SCHEMA_INVALID",
    title="A report that does not validate",
    catches="A file that looks like a report and is not one: a missing, unknown or ill-typed field, an unknown kind, "
    "NaN, a key that stands twice, no JSON at all.",
    why="What is read leniently is read differently by everybody; a boolean counted as a number once passed a gate.",
    fix="Correct the named field; `k3 report schema` prints what is expected.",
    severity="invalid",
    example=Example(bad='`"repeat": "3"`, a string where a number belongs', good='`"repeat": 3`'),
)

LEGACY_SCHEMA = outside_rule(
    "LEGACY_SCHEMA",
    title="A report from before schema 2",
    catches="A schema version below 2, or none in a format that has them.",
    why="Such reports lack what the rules need. They stay readable and are never citable.",
    fix="Measure again with `k3 eval`.",
    severity="legacy",
    example=Example(
        bad="`schema_version` 1 with a printed speed-up", good="the run measured again, `schema_version` 2"
    ),
)

NOT_ATTESTED = outside_rule(
    "NOT_ATTESTED",
    title="A report that nobody who is trusted has signed",
    catches="Only where `k3 gate check --require-attested KEYS` asks: a report without an envelope beside it, or whose "
    "envelope is damaged, of another file, signed by no key of KEYS, or says something else than this gate.",
    why="The gate sees that a report agrees with itself. Who stands for it is said by nobody else.",
    fix="Get the envelope of whoever measured, or `k3 attest sign` the report yourself if you did.",
    severity="withheld",
    example=Example(bad="run.json edited after run.json.dsse was made", good="both as their signer left them"),
    since=5,
)

RETRACTED = outside_rule(
    "RETRACTED",
    title="The report or a claim of it was retracted",
    catches="A report, by its id or its digest, that is listed in the retractions file.",
    why="A figure that turned out wrong keeps being quoted; the file that says so must outrank its rows.",
    fix="Cite what supersedes it.",
    severity="withheld",
    example=Example(
        bad="the digest of the report stands in RETRACTIONS.toml", good="the report that supersedes it is cited"
    ),
)
