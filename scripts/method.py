"""How often the gate's figures are wrong: false claims, coverage and power, by simulation. Prints Markdown tables.

Runs are simulated as times, in the order that `reports.schedule` gives, and estimated by the functions that judge
reports. `nox -s method` makes 10,000 reports a cell; `--reports` makes fewer, `--write` puts them into docs/method.md.
"""

import argparse
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from gate.claims.looks import decide
from gate.figures.codecs import AFFINE_4, codec_comparison
from gate.figures.statistics.ratio_estimate import PairedRepeat, RatioEstimate, estimate_ratio, holm
from gate.figures.statistics.student import quantile
from gate.rulebook.report_view import ReportView
from gate.rulebook.thresholds import LEVEL
from reports.records.codec_rows import CodecArm, CodecSample, KvQuantResult
from reports.records.plan import Stopping
from reports.report import Report
from reports.schedule import ScheduledArm, schedule

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "method.md"
Noise = Callable[[random.Random, int], Iterator[float]]
"""What the machine adds to the logarithm of each run's time, run after run; the second argument is a round's length."""


@dataclass(frozen=True)
class World:
    """What is true of a report. Standard deviations are of natural logarithms; `ratio` is that of every arm."""

    noise: Noise
    prompts: int = 6
    arms: int = 1
    processes: int = 3
    repeats: int = 1
    ratio: float = 1.0
    between_prompts: float = 0.0
    between_processes: float = 0.0


def iid(draw: random.Random, _round: int) -> Iterator[float]:
    """Every run is off by 5 % on its own."""
    while True:
        yield draw.gauss(0, 0.05)


def loud(draw: random.Random, _round: int) -> Iterator[float]:
    """Every run is off by 10 % on its own."""
    while True:
        yield draw.gauss(0, 0.10)


def drift(draw: random.Random, _round: int) -> Iterator[float]:
    """The machine slows by half a percent a run."""
    level = 0.0
    while True:
        level += 0.005
        yield level + draw.gauss(0, 0.05)


def bursts(draw: random.Random, _round: int) -> Iterator[float]:
    """Something else takes a third of the machine for five runs, now and then."""
    while True:
        slow = 0.3 if draw.random() < 0.1 else 0.0
        for _ in range(5):
            yield slow + draw.gauss(0, 0.03)


def heavy_tails(draw: random.Random, _round: int) -> Iterator[float]:
    """Most runs are off by 3 %, one in twenty by 40 %."""
    while True:
        yield draw.gauss(0, 0.4 if draw.random() < 0.05 else 0.03)


def periodic(draw: random.Random, length: int) -> Iterator[float]:
    """A disturbance with the period of two rounds, in any phase; forwards and backwards in turn resonates with it."""
    phase, place = draw.random(), 0
    while True:
        yield 0.15 * math.sin(2 * math.pi * (place / (2 * length) + phase)) + draw.gauss(0, 0.03)
        place += 1


def simulate(world: World, draw: random.Random) -> dict[str, tuple[PairedRepeat, ...]]:
    """One report: paired ratios of every arm to the oracle, and of the oracle to itself (`null`)."""
    names = ["oracle", "null", *(f"arm{index}" for index in range(world.arms))]
    arms = [ScheduledArm(name, world.repeats) for name in names]
    own = {
        (name, prompt): math.log(world.ratio) + draw.gauss(0, world.between_prompts)
        for name in names[2:]
        for prompt in range(world.prompts)
    }
    logs: dict[tuple[int, int, int, str], float] = {}
    for process in range(world.processes):
        shifts = {name: draw.gauss(0, world.between_processes) for name in names[2:]}
        noise = world.noise(draw, len(names))
        seed = draw.randrange(2**31)
        for run in schedule(arms, samples=world.prompts, repeats=world.repeats, process=process, seed=seed):
            effect = own.get((run.arm, run.sample), 0.0) + shifts.get(run.arm, 0.0)
            logs[process, run.sample, run.repeat, run.arm] = effect - next(noise)
    return {
        name: tuple(
            PairedRepeat(str(sample), sample, process, math.exp(value - logs[process, sample, repeat, "oracle"]))
            for (process, sample, repeat, arm), value in logs.items()
            if arm == name
        )
        for name in names[1:]
    }


def estimates(world: World, draw: random.Random) -> dict[str, RatioEstimate]:
    """The estimate of every arm of one simulated report."""
    found = {name: estimate_ratio(cells) for name, cells in simulate(world, draw).items()}
    return {name: estimate for name, estimate in found.items() if estimate is not None}


def looks(world: World, stopping: Stopping, draw: random.Random) -> Iterator[tuple[int, dict[str, RatioEstimate]]]:
    """One simulated report with processes enough for all looks: what each of them sees."""
    simulated = simulate(replace(world, processes=stopping.most), draw)
    for processes in stopping.planned:
        share = stopping.share_at(processes)
        seen = {
            name: estimate_ratio((cell for cell in cells if cell.process < processes), share)
            for name, cells in simulated.items()
        }
        yield processes, {name: estimate for name, estimate in seen.items() if estimate is not None}


def claims(found: dict[str, RatioEstimate]) -> set[str]:
    """Arms whose ratio the gate would let pass: told from 1 over all arms together, and beyond the oracle's own."""
    arms = [name for name in found if name != "null"]
    adjusted = holm([found[name].p for name in arms])
    return {
        name for name, p in zip(arms, adjusted, strict=True) if p <= LEVEL.value and found[name].beyond(found["null"])
    }


def share(count: int, world: World, of: Callable[[dict[str, RatioEstimate]], bool]) -> float:
    """Of `count` simulated reports, the share for which `of` holds."""
    draw = random.Random(f"{world.prompts} {world.arms} {world.ratio} {world.between_prompts} {world.noise.__name__}")
    return sum(of(estimates(world, draw)) for _ in range(count)) / count


def false_claims(count: int) -> Iterator[tuple[str, ...]]:
    """True ratio 1: reports that claim anything."""
    worlds = [(name.replace("_", " "), World(noise)) for name, noise in NOISES.items()]
    worlds += [
        (f"prompts differ (sd {sd:g}), {prompts} prompts, {arms} arms", World(iid, prompts, arms, between_prompts=sd))
        for sd in (0.1, 0.3)
        for prompts, arms in ((6, 2), (12, 3))
    ]
    worlds += [("five equal arms, 12 prompts", World(iid, 12, 5)), ("one process, 6 prompts", World(iid, processes=1))]
    for name, world in worlds:
        yield name, f"{share(count, world, lambda found: bool(claims(found))):.1%}"
    for sd in (0.0, 0.1):
        world, draw = World(iid, 6, 2, between_prompts=sd), random.Random(f"looks {sd}")
        shown = sum(any(claims(found) for _, found in looks(world, LOOKED_AT, draw)) for _ in range(count))
        yield f"ended at the first of 3 looks that claims one (sd {sd:g}), 6 prompts, 2 arms", f"{shown / count:.1%}"


def coverage(count: int) -> Iterator[tuple[str, ...]]:
    """Intervals that hold the true ratio, 1.3."""
    spreads = ((0.02, 0.05), (0.1, 0.0), (0.1, 0.05), (0.3, 0.05))
    cells = [(prompts, 3, *spread) for prompts in (6, 8, 12, 20) for spread in spreads]
    for prompts, processes, sd, shift in (*cells, (12, 2, 0.02, 0.05), (12, 6, 0.02, 0.05)):
        world = World(iid, prompts, processes=processes, ratio=1.3, between_prompts=sd, between_processes=shift)
        held = share(count, world, lambda found: found["arm0"].contains(1.3))
        yield f"{prompts}", f"{processes}", f"{sd:g}", f"{shift:g}", f"{held:.3f}"


def coverage_of_looks(count: int) -> Iterator[tuple[str, ...]]:
    """The true ratio is 1.3; processes are added until the interval is narrow, or by whoever likes it least."""
    for prompts, sd, shift, wanted in (
        (6, 0.0, 0.0, 0.1), (6, 0.03, 0.05, 0.1), (6, 0.1, 0.0, 0.3),
        (12, 0.03, 0.05, 0.1), (12, 0.1, 0.0, 0.2), (12, 0.1, 0.05, 0.2),
    ):  # fmt: skip
        world = World(iid, prompts, ratio=1.3, between_prompts=sd, between_processes=shift)
        draw = random.Random(f"looks {prompts} {sd} {shift}")
        ended = [_ended(world, LOOKED_AT.replace(width=wanted), draw) for _ in range(count)]
        held, always, processes, widths = zip(*ended, strict=True)
        shares = f"{sum(held) / count:.3f}", f"{sum(always) / count:.3f}"
        ends = f"{sum(processes) / count:.1f}", f"{median(widths):.2f}"
        yield f"{prompts}", f"{sd:g}", f"{shift:g}", f"{wanted:g}", *shares, *ends


def _ended(world: World, stopping: Stopping, draw: random.Random) -> tuple[bool, bool, int, float]:
    """The interval where the run ended holds the truth, those of all looks do, the processes, and its width."""
    seen = [(processes, found["arm0"]) for processes, found in looks(world, stopping, draw)]
    last = stopping.share_at(stopping.most)
    for processes, one in seen:
        if decide(stopping, processes, one.width, one.least_width(last), 0.0) != "go_on":
            break
    always = all(one.contains(world.ratio) for _, one in seen)
    return one.contains(world.ratio), always, processes, one.width or math.inf


def power(count: int) -> Iterator[tuple[str, ...]]:
    """True ratio 1.1, prompts that differ by 0.1, noise of 10 %: reports that claim it, and the plain t interval."""
    for prompts in (6, 10, 20):
        for processes, repeats in ((1, 3), (3, 1)):
            world = World(loud, prompts, ratio=1.1, between_prompts=0.1, processes=processes, repeats=repeats)
            ours = share(count, world, lambda found: "arm0" in claims(found))
            yield f"{prompts}", f"{processes} x {repeats}", f"{ours:.1%}", f"{_plain_t(count, world):.1%}"


def _plain_t(count: int, world: World) -> float:
    """The share of reports in which a t interval on the mean log ratio of all prompts leaves out 1."""
    draw = random.Random("plain t")
    shown = 0
    for _ in range(count):
        cells = simulate(world, draw)["arm0"]
        logs = [_log_of(cells, prompt, world) for prompt in range(world.prompts)]
        mean = sum(logs) / len(logs)
        error = math.sqrt(sum((value - mean) ** 2 for value in logs) / (len(logs) - 1) / len(logs))
        shown += abs(mean) > quantile(len(logs) - 1) * error
    return shown / count


def _log_of(cells: Sequence[PairedRepeat], prompt: int, world: World) -> float:
    """A prompt's log ratio: the median of its repeats in a process, the mean over processes."""
    repeats = [[math.log(cell.ratio) for cell in cells if (cell.prompt, cell.process) == (prompt, process)]
               for process in range(world.processes)]  # fmt: skip
    return sum(map(median, repeats)) / world.processes


def best_of_five(count: int) -> Iterator[tuple[str, ...]]:
    """Five arms, each truly 2.0: the largest ratio of a report, which is why a headline says of how many it is one."""
    world = World(loud, 6, 5, ratio=2.0, between_prompts=0.1)
    draw = random.Random("best of five")
    best = sorted(
        max(one.value for name, one in estimates(world, draw).items() if name != "null") for _ in range(count)
    )
    yield "the best of five equal arms, true ratio 2.0", f"{best[len(best) // 2]:.2f}"


def equal_codecs(count: int) -> Iterator[tuple[str, ...]]:
    """Codecs that err as affine 4 does, but for 2 % of noise on every prompt: reports that find one better."""
    for codecs, prompts in ((15, 10), (15, 20), (3, 10)):
        draw = random.Random(f"codecs {codecs} {prompts}")
        found = sum(_any_better(codecs, prompts, draw) for _ in range(count))
        yield f"{codecs} codecs, {prompts} prompts", f"{found / count:.1%}"


def _any_better(codecs: int, prompts: int, draw: random.Random) -> bool:
    result = KvQuantResult(arms=tuple(_codec(name, prompts, draw) for name in (AFFINE_4, *map(str, range(codecs)))))
    view = ReportView(Report(kind="kv_quant", report_id="simulated", kv_quant=result))
    found = (codec_comparison(view, str(index)) for index in range(codecs))
    return any(one is not None and one.verdict == "better" for one in found)


def _codec(name: str, prompts: int, draw: random.Random) -> CodecArm:
    """A codec of 4.5 bits that answers everything; prompts are harder and easier for all codecs alike."""
    samples = []
    for sample in range(prompts):
        error = 0.01 * (1 + sample % 5) * math.exp(draw.gauss(0, 0.02))
        samples.append(CodecSample(sample=sample, correct=True, relative_error=error, stored_bytes=563, values=1000))
    return CodecArm(name=name, codec=name, samples=tuple(samples))


NOISES: dict[str, Noise] = {
    "iid": iid, "drift": drift, "bursts": bursts, "heavy_tails": heavy_tails, "period_of_two_rounds": periodic
}  # fmt: skip


LOOKED_AT = Stopping(width=0.1, first=3, most=12)
"""What `--until-width` plans unless it is told otherwise."""


@dataclass(frozen=True)
class Table:
    """A question, its column heads, and what answers it."""

    title: str
    heads: tuple[str, ...]
    rows: Callable[[int], Iterator[tuple[str, ...]]]


INTRODUCTION = """# How often the gate's figures are wrong

Made by `python scripts/method.py --reports {count} --write`: {count} simulated reports a cell. A report has an oracle,
the oracle again (A/A), and arms whose true ratio is known. The machine adds noise to every run, in the order in which
K3 runs arms. The gate's own functions estimate each ratio. *Groups* are kinds of prompts, *sd* is the standard
deviation of the logarithm of the ratio, between prompts or between processes.

A plain t interval on the prompts' mean log ratio is the best valid test where processes do not differ. With several
processes K3's interval also covers what the next process will say, and pays for it with some power.

`--until-width` looks at the interval again and again, so each look spends a part of the 5 %: the square of the part of
the processes, less what was spent before. *Of all looks* is how often every interval of a run holds the truth, so who
ends it where he likes has no more than that to gain; *wanted* and *median width* are of the interval over the ratio.
Shares that are equal, or grow with the processes alone, held less where processes differ more than prompts. A run ends,
too, where the prompts alone keep the interval wide: more processes narrow only what processes and noise add.

Three processes tell little of how much processes differ. Where they show, the interval has few degrees of freedom
(Satterthwaite 1946), so that it is wide and holds the truth. Until rule set 6 it had too many: where processes differ
more than prompts (sd 0.02 of prompts, 0.05 of processes), it held in 90 to 92 of 100 reports, not in 95. The wider
interval costs power, also where processes do not differ, since noise alone looks like a difference in half of the
reports. Two processes are too few, as the table of coverage shows: no ratio over two is printed (`SPEEDUP_PROCESSES`).
Whoever sees processes that differ measures more of them: `--processes 6`, or `--until-width`."""

COVERAGE_HEADS = ("groups", "processes", "sd of prompts", "sd of processes", "coverage")

TABLES = (
    Table("True ratio 1: reports that claim an effect (at most 5 %)", ("machine and prompts", "reports"), false_claims),
    Table("Coverage of the 95 % interval", COVERAGE_HEADS, coverage),
    Table(
        "Processes added until the interval is narrow: looks after 3, 6 and 12",
        (
            "groups",
            "sd of prompts",
            "sd of processes",
            "wanted",
            "coverage",
            "of all looks",
            "processes",
            "median width",
        ),
        coverage_of_looks,
    ),
    Table("Power at a true 1.1", ("groups", "processes x repeats", "ours", "t interval"), power),
    Table("Codecs equal to affine 4: reports that find one better (at most 5 %)", ("codecs", "reports"), equal_codecs),
    Table("Selection", ("question", "median of the headline"), best_of_five),
)


def markdown(count: int) -> str:
    """The document: what is simulated, and all tables."""
    parts = [INTRODUCTION.format(count=count)]
    for table in TABLES:
        rows = [table.heads, tuple("---" for _ in table.heads), *table.rows(count)]
        parts.append(f"## {table.title}\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Simulate and print, or write the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=10_000, help="simulated reports a cell")
    parser.add_argument("--write", action="store_true", help="write docs/method.md instead of printing")
    arguments = parser.parse_args()
    text = markdown(arguments.reports)
    if arguments.write:
        DOCUMENT.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
