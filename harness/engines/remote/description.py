"""What a server tells of itself: what a report's provenance needs, in the records of a report."""

import json
from collections.abc import Sequence

from pydantic import Field, ValidationError

from harness.base.provenance import plugin_info, read_packages
from harness.engines.base import Engine
from harness.engines.remote import sessions_pb2 as wire
from harness.engines.remote.messages import fill, told
from harness.engines.remote.records import RefusedError
from reports.plugins.entry_points import Plugin
from reports.records.measurement import DrafterInfo, Restoration
from reports.records.provenance import ModelInfo, Package, PluginInfo
from reports.records.record import Name, Record
from reports.untrusted.faults import describe_invalid

MOST_TOLD = 64
"""Models, packages or plug-ins that a server may name: what it tells stands in reports."""


class Described(Record):
    """A served engine and its models; a service without generator has neither engine nor loop."""

    engine: Name | None = None
    decode_loop: Name | None = None
    restoration: Restoration | None = None
    drafter: DrafterInfo | None = None
    models: tuple[ModelInfo, ...] = Field((), max_length=MOST_TOLD)
    packages: tuple[Package, ...] = Field((), max_length=MOST_TOLD)
    plugins: tuple[PluginInfo, ...] = Field((), max_length=MOST_TOLD)
    device: Name | None = None
    vocabulary: int


def describe_engine(
    engine: Engine, models: tuple[ModelInfo, ...], device: str, vocabulary: int, plugins: Sequence[Plugin] = ()
) -> Described:
    """The description of a loaded engine; `plugins` are those that it and its drafter come from."""
    return Described(
        engine=engine.kind.name,
        decode_loop=engine.kind.decode_loop,
        restoration=engine.restoration,
        drafter=engine.drafter,
        models=models,
        packages=read_packages(plugins),
        plugins=tuple(map(plugin_info, plugins)),
        device=device,
        vocabulary=vocabulary,
    )


def to_wire(described: Described, limits: wire.Limits) -> wire.DescribeResponse:
    """As a message. Layers that are exact are left out where there are none, and come back as unknown."""
    message = wire.DescribeResponse(
        engine=described.engine,
        decode_loop=described.decode_loop,
        device=described.device or "",
        vocabulary=described.vocabulary,
        limits=limits,
    )
    if described.restoration is not None:
        fill(message.restoration, described.restoration)
    if described.drafter is not None:
        fill(message.drafter, described.drafter)
    for model in described.models:
        fill(message.models.add(), model)
    for package in described.packages:
        fill(message.packages.add(), package)
    for plugin in described.plugins:
        fill(message.plugins.add(), plugin)
    return message


def from_wire(message: wire.DescribeResponse) -> Described:
    """What a server told, validated as hostile.

    Raises:
        RefusedError: it does not validate.
    """
    restoration = told(message.restoration) if message.HasField("restoration") else None
    if restoration is not None and restoration.get("mode", "none") != "none":
        restoration.setdefault("exact_layers", [])
    values = {
        "engine": message.engine or None,
        "decode_loop": message.decode_loop or None,
        "restoration": restoration,
        "drafter": told(message.drafter) if message.HasField("drafter") else None,
        "models": told(message.models),
        "packages": told(message.packages),
        "plugins": told(message.plugins),
        "device": message.device or None,
        "vocabulary": message.vocabulary,
    }
    try:
        return Described.model_validate_json(json.dumps(values))
    except ValidationError as error:
        raise RefusedError("UNKNOWN", f"the server describes itself wrongly: {describe_invalid(error)}") from error
