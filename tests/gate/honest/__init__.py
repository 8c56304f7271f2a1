"""Complete, honest schema-2 reports from a small simulation of times, for the tests of the gate.

Everything is seeded: the same `Setup` gives the same report, byte for byte. `measured_*` give a report as a run leaves
it (rows, no claims), `honest_*` the same after `gate.judging.judge.conclude`.
"""

from gate.judging.judge import conclude
from reports.report import Report
from tests.gate.honest.code import measured_code
from tests.gate.honest.kv_quant import measured_kv_quant
from tests.gate.honest.machine import provenance
from tests.gate.honest.niah import measured_niah
from tests.gate.honest.parity import measured_parity
from tests.gate.honest.setup import BYTES_PER_LAYER_TOKEN, LAYERS, SINK, WINDOW, Setup

__all__ = [
    "BYTES_PER_LAYER_TOKEN",
    "LAYERS",
    "SINK",
    "WINDOW",
    "Setup",
    "honest_code",
    "honest_kv_quant",
    "honest_niah",
    "honest_parity",
    "measured_code",
    "measured_kv_quant",
    "measured_niah",
    "measured_parity",
    "provenance",
]


def honest_niah(setup: Setup | None = None) -> Report:
    """A judged needle report: oracle twice, systems under test, ablated control, needle-free control."""
    return conclude(measured_niah(setup or Setup()))


def honest_code(setup: Setup | None = None) -> Report:
    """A judged throughput report: oracle twice, a DFlash arm (with its parity) and a prompt-lookup arm."""
    return conclude(measured_code(setup or Setup()))


def honest_parity(setup: Setup | None = None) -> Report:
    """A judged parity report: two runtimes of one drafter agree on every token."""
    return conclude(measured_parity(setup or Setup()))


def honest_kv_quant(setup: Setup | None = None) -> Report:
    """A judged codec report: identity is clean, affine 4 is the reference, a lattice beats it, another does not."""
    return conclude(measured_kv_quant(setup or Setup(samples=10)))
