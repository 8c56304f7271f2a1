"""Train k3-tiny from a seed and write its model folder; an interrupted run goes on where it was.

python scripts/train_tiny.py --out build/k3-tiny
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from harness.training.tiny.corpus import tokenizer_texts  # noqa: E402
from harness.training.tiny.export import export  # noqa: E402
from harness.training.tiny.model import TinyConfig  # noqa: E402
from harness.training.tiny.tokenizer import VOCABULARY, open_tiny_tokenizer, train_tokenizer  # noqa: E402
from harness.training.tiny.train import Settings, Trainer, say  # noqa: E402


def main() -> None:
    """Tokenizer, training, export."""
    defaults = Settings()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the model folder to write")
    parser.add_argument("--work", type=Path, help="where checkpoints lie; default: OUT.work")
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--steps", type=int, default=defaults.steps)
    parser.add_argument("--rate", type=float, default=defaults.rate)
    parser.add_argument("--bf16", action="store_true", help="matrix products in bfloat16, if the processor has them")
    parser.add_argument("--resume", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--export-only", action="store_true", help="write the folder from the checkpoint as it is")
    options = parser.parse_args()
    settings = Settings(options.seed, options.steps, options.rate, options.bf16)
    work = options.work or options.out.with_name(options.out.name + ".work")
    train_tokenizer(tokenizer_texts(settings.seed), work)
    trainer = Trainer.fresh(open_tiny_tokenizer(work), TinyConfig(VOCABULARY), settings)
    checkpoint = work / "checkpoint.pt"
    if options.resume and checkpoint.exists():
        trainer.resume(checkpoint)
        say(f"going on after step {trainer.step}")
    if not options.export_only:
        trainer.train(checkpoint)
    command = f"python scripts/train_tiny.py --out k3-tiny --seed {settings.seed} --steps {settings.steps}"
    command += f" --rate {settings.rate}" + (" --bf16" if settings.bf16 else "")
    say(str(export(trainer, work, options.out, command).held_out))


if __name__ == "__main__":
    main()
