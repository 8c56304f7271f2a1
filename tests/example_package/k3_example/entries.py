"""What the engine and the drafter are, for K3 to know before it loads them."""

import k3

ENGINE = k3.EngineEntry(k3.EngineKind("greedy", "greedy_step", foreign=True), built_by="k3_example.engine:GreedyEngine")

DRAFTER = k3.DrafterEntry(k3.DrafterKind("bigram", "bigram"), loaded_by="k3_example.drafter:load")
REFERENCE = k3.DrafterEntry(
    k3.DrafterKind("bigram-numpy", "bigram", runtime="numpy"), loaded_by="k3_example.drafter:load_reference"
)
"""Two runtimes of one drafter: the first is a port, and has to propose what the second does."""
