"""The machine as the predecessor's measurements on CUDA name it."""

from reports.importers.base import Foreign
from reports.records.provenance import ModelInfo, Package, Provenance
from reports.records.record import Name


class Environment(Foreign):
    """`env`."""

    gpu: Name | None = None
    torch: Name | None = None

    def provenance(self, models: tuple[ModelInfo, ...]) -> Provenance:
        """As a report has it, of a run of these models."""
        packages = (Package(name="torch", version=self.torch),) if self.torch is not None else None
        return Provenance(models=models, packages=packages, device=self.gpu)
