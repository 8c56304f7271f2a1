"""The weights that K3 knows, by digest, each with its one name; the registry of models and the gate agree on them."""

from collections.abc import Mapping
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
