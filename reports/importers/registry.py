"""Every importer, in the order in which a file is offered to them. No two recognise the same file."""

from reports.importers import (
    dflash_mlx,
    k3_mac,
    k3_mac_chat,
    k3_mac_gpu,
    k3_mac_kvquant,
    k3_mac_parity,
    llama_bench,
    spec_bench,
)
from reports.importers.base import Importer, Source

IMPORTERS: tuple[Importer, ...] = (
    k3_mac.IMPORTER,
    k3_mac_parity.IMPORTER,
    k3_mac_kvquant.IMPORTER,
    k3_mac_chat.IMPORTER,
    k3_mac_gpu.IMPORTER,
    dflash_mlx.IMPORTER,
    llama_bench.IMPORTER,
    spec_bench.IMPORTER,
)
IMPORTER_NAMES = frozenset(importer.name for importer in IMPORTERS)
FOREIGN_KINDS = (k3_mac.KIND, k3_mac_parity.KIND, k3_mac_kvquant.KIND, k3_mac_chat.KIND, k3_mac_gpu.KIND)


def importer_of(source: Source) -> Importer | None:
    """The importer that recognises `source`."""
    return next((importer for importer in IMPORTERS if importer.recognises(source)), None)
