"""Write a DFlash checkpoint with random weights for a verifier, so that `k3 parity` needs no published one.

python scripts/random_drafter.py --model smollm2-135m --out FOLDER [--layers N] [--targets N] [--block-size N]
"""

import argparse
import sys
from pathlib import Path

from harness.base.errors import K3Error
from harness.fetching.fetch import ensure
from harness.training.drafter.random_weights import RandomDflash, write_random_dflash


def main() -> int:
    """Parse, write, print the folder."""
    parser = argparse.ArgumentParser(description="Write a random DFlash drafter for a verifier.")
    parser.add_argument("--model", default="smollm2-135m", help="the verifier, as `k3 eval` names it")
    parser.add_argument("--out", type=Path, required=True, help="folder to make")
    parser.add_argument("--layers", type=int, default=RandomDflash.layers)
    parser.add_argument("--targets", type=int, default=RandomDflash.targets, help="verifier layers it reads")
    parser.add_argument("--block-size", type=int, default=RandomDflash.block_size)
    parser.add_argument("--seed", type=int, default=RandomDflash.seed)
    options = parser.parse_args()
    wanted = RandomDflash(options.layers, options.targets, options.block_size, seed=options.seed)
    try:
        write_random_dflash(options.out, ensure(options.model).folder, wanted)
    except K3Error as error:
        print(f"random_drafter: {error}", file=sys.stderr)
        return error.exit_code
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
