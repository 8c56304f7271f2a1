"""The weights that K3 knows, by digest, each with its one name; the registry of models and the gate agree on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

KNOWN_WEIGHTS: Mapping[str, str] = MappingProxyType(
    {
        "sha256:a63c4f291c08b898c9c05042af55d93a1f029bfbbb5961b2533dc8f7cf18e0ea": "k3-tiny",
        "sha256:7c8de0cea1a5b01dd998f7df7b7dfd9c174d1d9a66c853eccce6eb106b4277ed": "k3-tiny-dflash",
        "sha256:1a93025381a52ef192cd02b859486be5e9400caea503dba4ce23b407299d721f": "k3-tiny-ftheta",
        "sha256:15f285d2eeb69bf4c1169b0b9ec4110fbbf213931c3ad02306be82d36f86db5c": "smollm2-135m",
        "sha256:7b27dcc814637c92757f48e7106c486a9cbbbebbac7a85a11b028fcb36a5179a": "smollm2-135m-dflash",
        "sha256:2a9e658cf883e02e9379d8de3400de6ee68950a732b5f80c8a098e833fab5998": "smollm2-135m-ftheta",
        "sha256:ead8b6ff395a7e78351a78183d47f503a5a89bb4ec169c2f85784feca1ea2d5c": "gemma3-270m",
    }
)
"""Digest of the weights to the name in `k3 models list`; a converted model's digest is that of the conversion."""


KNOWN_RECIPES: Mapping[str, str] = MappingProxyType(
    {
        "k3-tiny-dflash": "sha256:4c23240107646e17005de7556d29f520af6bd030912045af318c73549c2c49f2",
        "k3-tiny-ftheta": "sha256:3e6e631d46c3f88d19c134079fa0f4c835fe080b7d82ade65b8a7750e45ede07",
        "smollm2-135m-dflash": "sha256:a837a84a920a5d773174d90f22c13c2f5d0b8dd3b2c9c887ba9e0c1320c4b58a",
        "smollm2-135m-ftheta": "sha256:f3f67214a1d9fa01b336b262f6228e5ebc3f89ed6e4860d8cd522c2db4141cc6",
    }
)
"""Names to digests of the recipes that the manifests of these weights tell; a test holds them to the manifests."""


@dataclass(frozen=True)
class CacheShape:
    """K and V of one layer: the numbers of one position, and the positions that a sliding layer keeps."""

    numbers: int
    window: int | None = None


KNOWN_CACHES: Mapping[str, CacheShape] = MappingProxyType(
    {
        "k3-tiny": CacheShape(256, 64),
        "smollm2-135m": CacheShape(384),
        "gemma3-270m": CacheShape(512, 512),
    }
)
"""What the verifiers that K3 knows keep, by name: 2 x heads of K/V x their width, the same in every layer."""

KNOWN_FEATURES: Mapping[str, int] = MappingProxyType({"k3-tiny-ftheta": 512, "smollm2-135m-ftheta": 1152})
"""Bytes of features that an f_theta keeps of each position, by name, as its manifest has them."""


@dataclass(frozen=True)
class KnownModel:
    """What a folder with these weights says of them. `config` and `tokenizer`, digests of its files, are told of what
    ships alone: those of a model that was converted are written by the libraries of that machine."""

    architecture: str
    layer_types: tuple[str, ...]
    dtype: str
    config: str | None = None
    tokenizer: str | None = None
    reads: str | None = None
    """The verifier whose hidden states it reads, by name; none of a model that reads tokens."""


_FULL, _SLIDING = "full_attention", "sliding_attention"

KNOWN_MODELS: Mapping[str, KnownModel] = MappingProxyType(
    {
        "k3-tiny": KnownModel(
            "Gemma3ForCausalLM",
            (_SLIDING, _FULL) * 2,
            "float32",
            config="sha256:a3be830d732834b89edc7c925537e9af20b505b5455ae4ce775ffc9f93d9b590",
            tokenizer="sha256:e08f20465d011c956e92b01a38ca0b618090b9e354d1749e55d2c83d176975dd",
        ),
        "k3-tiny-dflash": KnownModel(
            "DFlashDraftModel",
            (_FULL,),
            "float16",
            config="sha256:3fcc5e02d1f2b4550d2f4fa5d9bd9872c00c634294f47354f9fdd601e4e18126",
            reads="k3-tiny",
        ),
        "k3-tiny-ftheta": KnownModel(
            "FTheta",
            (),
            "float16",
            config="sha256:c39e3ef078d877c41a461149238cd28dafbbf670b669a590a5253c948cb23ef6",
            reads="k3-tiny",
        ),
        "smollm2-135m": KnownModel("LlamaForCausalLM", (_FULL,) * 30, "float32"),
        "smollm2-135m-dflash": KnownModel("DFlashDraftModel", (_FULL,) * 2, "float16", reads="smollm2-135m"),
        "smollm2-135m-ftheta": KnownModel("FTheta", (), "float16", reads="smollm2-135m"),
        "gemma3-270m": KnownModel("Gemma3ForCausalLM", ((_SLIDING,) * 5 + (_FULL,)) * 3, "float32"),
    }
)
"""By name; a test holds them to the folders."""
