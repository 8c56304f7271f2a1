"""What to do about a package that is missing, told alike everywhere. K3 is on no index: it is installed from source."""

ATTEST_REMEDY = "pip install '.[attest]' in K3's source folder"
GPU_REMEDY = "pip install '.[gpu]' in K3's source folder"
HTTP_REMEDY = "pip install '.[http]' in K3's source folder, on macOS or Linux"
PAGE_REMEDY = "pip install '.[page]' in K3's source folder"
RUN_REMEDY = "pip install '.[run]' in K3's source folder, on macOS or Linux"
SERVE_REMEDY = "pip install '.[serve]' in K3's source folder, on macOS or Linux"
SWEEP_REMEDY = "pip install '.[sweep]' in K3's source folder, on macOS or Linux"
TORCH_REMEDY = "pip install '.[torch]' in K3's source folder"
RUN_MODULES = ("gguf", "huggingface_hub", "mlx", "mlx_lm", "numpy", "safetensors", "tokenizers", "transformers")
"""What the extra `run` brings, by the names they are imported by."""
SERVE_MODULES = ("google", "grpc", "grpc_health")
"""What the extra `serve` brings beside it."""

HTTP_MODULES = ("httpx",)
"""What the extra `http` brings beside it."""
PAGE_MODULES = ("jinja2", "markupsafe", "matplotlib")
"""What the extra `page` brings."""
SWEEP_MODULES = ("dask", "distributed")
"""What the extra `sweep` brings."""
ATTEST_MODULES = ("cryptography",)
"""What the extra `attest` brings."""
GPU_MODULES = ("pynvml",)
"""What the extra `gpu` brings."""


def remedy_of(module: str | None) -> str | None:
    """What to install for `module`, by its dotted name; None if no extra of K3 brings it."""
    top = (module or "").partition(".")[0]
    if top == "torch":
        return TORCH_REMEDY
    if top in ATTEST_MODULES:
        return ATTEST_REMEDY
    if top in GPU_MODULES:
        return GPU_REMEDY
    if top in PAGE_MODULES:
        return PAGE_REMEDY
    if top in HTTP_MODULES:
        return HTTP_REMEDY
    if top in SERVE_MODULES:
        return SERVE_REMEDY
    if top in SWEEP_MODULES:
        return SWEEP_REMEDY
    return RUN_REMEDY if top in RUN_MODULES else None
