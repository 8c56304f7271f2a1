"""Writes the messages of the session protocol beside its .proto file, by grpcio-tools and mypy-protobuf."""

from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[1]
PROTO = Path("harness/engines/remote/sessions.proto")
STUBS = ("sessions_pb2.py", "sessions_pb2.pyi")


def generate(into: Path) -> None:
    """Write the stubs under `into`, in the folders that the .proto file has in the project.

    Raises:
        SystemExit: the compiler found a fault and told it.
    """
    typed = distribution("mypy-protobuf")
    plugins = [Path(str(typed.locate_file(file))).resolve() for file in typed.files or () if "protoc-gen" in file.name]
    code = protoc.main(
        [
            "protoc",
            f"-I{ROOT}",
            f"-I{files('grpc_tools').joinpath('_proto')}",
            *(f"--plugin={path.name}={path}" for path in plugins),
            *(f"--{kind}_out={into}" for kind in ("python", "mypy")),
            str(ROOT / PROTO),
        ]
    )
    if code:
        raise SystemExit(code)


if __name__ == "__main__":
    generate(ROOT)
