"""Record the reference logits of a fetched model with transformers, for machines without torch.

python scripts/record_reference.py smollm2-135m
"""

import sys
from pathlib import Path

import harness.models
from harness.checks.reference_logits import file_stem, record
from harness.checks.verify_model import reference_logits
from harness.models.faithfulness import text_digest
from harness.models.resolve import resolve
from reports.atomic_file import write_atomically


def main(name: str) -> None:
    """Write harness/models/references/<weights>.json."""
    model = resolve(name)
    ids, logits, reference = reference_logits(model.folder)
    made = record(model.weights, text_digest(), reference, ids, logits)
    path = Path(harness.models.__file__).parent / "references" / f"{file_stem(model.weights)}.json"
    write_atomically(made.model_dump_json().encode() + b"\n", path)
    print(path.name, len(ids), "tokens")


if __name__ == "__main__":
    main(sys.argv[1])
