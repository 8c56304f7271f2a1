"""The simulated machine and the models on it."""

from reports.records.provenance import Faithfulness, Host, ModelInfo, Package, Provenance, SourceCode
from tests.gate.honest.setup import LAYERS, digest


def provenance(models: tuple[ModelInfo, ...] = ()) -> Provenance:
    """Full provenance of a simulated machine; PyTorch is there where a drafter may be compared with it."""
    torch = (Package(name="torch", version="2.13.0"),) if any(model.role == "drafter" for model in models) else ()
    return Provenance(
        source=SourceCode(git_commit="e07cd95b0c8f4c6f8a2f5b1f6b7d8f2a3c4e5d60", dirty=False, version="0.1.0"),
        argv=("k3", "eval"),
        host=Host(os="Linux 6.1", machine="x86_64", chip="Simulated", cores=2, memory=8 * 2**30, python="3.11.9"),
        packages=(Package(name="mlx", version="0.32.4"), Package(name="mlx-lm", version="0.32.2"), *torch),
        models=(_verifier(), *models),
        device="cpu",
        blas="OpenBLAS 0.3.29",
    )


def _verifier() -> ModelInfo:
    return ModelInfo(
        role="verifier",
        id="smollm2-135m",
        revision="7e27bd9f95328f0f3b08261d1252705110c806f8",
        weights=digest("smollm2-135m"),
        architecture="LlamaForCausalLM",
        layer_types=("full_attention",) * LAYERS,
        quantisation="none",
        dtype="float32",
        faithfulness=Faithfulness(
            reference="transformers 5.24.0, float32", tokens=256, argmax_agreement=1.0, largest_logit_gap=0.0002
        ),
    )


def model(role: str, name: str) -> ModelInfo:
    """A model beside the verifier: a drafter or a projection."""
    return ModelInfo.model_validate(
        {
            "role": role,
            "id": name,
            "revision": "1",
            "weights": digest(name),
            "architecture": "dflash" if role == "drafter" else "ridge",
            "layer_types": ("full_attention",) * 2,
            "quantisation": "none",
            "dtype": "float32",
        }
    )
