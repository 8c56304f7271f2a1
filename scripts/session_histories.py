"""INV-3 over many histories: random ones, split at random into appends and interleaved over eight sessions, must give
the tokens of one append. Ends with 1 if one does not."""

import argparse
import random
import sys

from harness.base.clock import now
from harness.commands.sessions.options import load_engine, served_settings
from harness.engines.base import Block
from harness.engines.remote.records import Sampling
from harness.remote.device_thread import DeviceThread
from harness.remote.limits import Limits
from harness.remote.service import SessionService

SIDE_BY_SIDE, LONGEST, EMITTED = 8, 160, 12
ENGINES = {
    "ar": ("none", None),
    "native-baseline": ("none", None),
    "incremental": ("ablate", None),
    "fused": ("none", "ngram"),
    "fused-carry": ("none", "ngram"),
    "fused-bounded": ("ablate", "ngram"),
}


def service_of(case: str, model: str, device: DeviceThread) -> SessionService:
    """The engine of a case behind a service, sink 4 and window 64 where it is bounded."""
    restoration, drafter = ENGINES[case]
    engine = case.removesuffix("-bounded")
    named = served_settings(model, engine, restoration, None, "none", 4, 64, drafter, None, 4, "two_phase")
    return SessionService(device.run("load", load_engine(named)).served, Limits(), device)


def generate(service: SessionService, name: str, count: int) -> list[int]:
    """Tokens of a generation."""
    frames = service.generate(name, count, Sampling())
    return [token for frame in frames if isinstance(frame, Block) for token in frame.tokens]


def round_of(service: SessionService, chance: random.Random, vocabulary: int) -> int:
    """Eight histories side by side; how many of them gave other tokens than one append."""
    sessions: dict[str, list[int]] = {}
    for _ in range(SIDE_BY_SIDE):
        words = [chance.randrange(3, vocabulary) for _ in range(chance.randint(2, 60))]
        sessions[service.create("split", ())] = [chance.choice(words) for _ in range(chance.randint(2, LONGEST))]
    left = {name: list(history) for name, history in sessions.items()}
    while left:
        name = chance.choice(list(left))
        count = chance.choice([1, 1, 2, 3, 7, 20, 64, LONGEST])
        list(service.append(name, left[name][:count]))
        left[name] = left[name][count:]
        if not left[name]:
            del left[name]
    wrong = 0
    for name, history in sessions.items():
        cut = chance.randint(1, EMITTED - 1)
        emitted = generate(service, name, cut) + generate(service, name, EMITTED - cut)
        once = service.create("once", ())
        list(service.append(once, history))
        wrong += generate(service, once, EMITTED) != emitted
        service.close(once)
        service.close(name)
    return wrong


def run_case(case: str, service: SessionService, chance: random.Random, rounds: int) -> int:
    """Print what so many rounds of an engine came to; how many histories differed."""
    began = now()
    wrong = sum(round_of(service, chance, service.describe().vocabulary) for _ in range(rounds))
    print(
        f"{case}: {wrong} of {rounds * SIDE_BY_SIDE} histories differ, {service.seen.compared} tokens compared by "
        f"INV-3, {now() - began:.0f} s, {service.kv_bytes()} bytes left",
        flush=True,
    )
    return wrong


def main() -> None:
    """Run the engines that are named, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", default=list(ENGINES), help=", ".join(ENGINES))
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--model", default="k3-tiny")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failed = 0
    for case in options.engines:
        with DeviceThread() as device:
            service, chance = service_of(case, options.model, device), random.Random(f"{options.seed} {case}")
            failed += run_case(case, service, chance, -(-options.histories // SIDE_BY_SIDE))
    sys.exit(min(failed, 1))


if __name__ == "__main__":
    main()
