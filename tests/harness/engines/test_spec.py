"""What can be asked of an engine: nonsense is refused before anything loads, wherever it comes from."""

import pytest
from pydantic import ValidationError

from harness.engines.spec import DrafterSpec, EngineSettings, RestorationSpec


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"exact_layers": (1,)}, "exact_layers without eviction"),
        ({"exact_layers": "full_attention"}, "exact_layers without eviction"),
        ({"restoration": "f_theta"}, "names its weights"),
        ({"restoration": "identity", "f_theta": "maps"}, "no other restoration has any"),
        ({"restoration": "ablate", "residency": "resident"}, "puts back: nothing"),
        ({"restoration": "identity", "residency": "transient"}, "is for f_theta"),
        ({"restoration": "identity", "exact_layers": (2, 1)}, "ascending"),
        ({"restoration": "identity", "exact_layers": (1, 1)}, "without repeats"),
        ({"restoration": "ablate", "window": 0}, "window"),
        ({"restoration": "ablate", "sink": -1}, "sink"),
        ({"restoration": "rotate"}, "'ablate' or 'f_theta'"),
    ],
)
def test_a_restoration_that_means_nothing_is_refused(asked: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        RestorationSpec.model_validate(asked)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"kind": "ngarm"}, "did you mean ngram"),
        ({"kind": "ngram", "model": "smollm2-135m"}, "has no weights"),
        ({"kind": "ngram", "dtype": "float32"}, "type of its weights"),
        ({"kind": "ngram", "bits": 4}, "not rounded"),
        ({"kind": "combined", "model": "a checkpoint", "sure": 0.2}, "does not know how likely"),
        ({"kind": "dflash", "model": "a checkpoint", "sure": 0.2, "graph": "single"}, "set graph two_phase"),
        ({"kind": "dflash", "model": "a checkpoint", "sure": 1.0}, "less than 1"),
        ({"kind": "dflash"}, "needs a model"),
        ({"kind": "dflash", "model": "a checkpoint", "bits": 4}, "not rounded"),
        ({"kind": "model", "model": "k3-tiny", "dtype": "float32"}, "type of its weights"),
        ({"kind": "model", "model": "k3-tiny", "bits": 7}, "2, 3, 4, 5, 6 or 8"),
        ({"kind": "ngram", "block_size": 0}, "block_size"),
        ({"kind": "ngram", "block_size": 65}, "block_size"),
    ],
)
def test_a_drafter_that_means_nothing_is_refused(asked: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        DrafterSpec.model_validate(asked)


def test_a_chunk_of_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="prefill_chunk"):
        EngineSettings(prefill_chunk=0)
