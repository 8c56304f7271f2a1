"""The committed stubs are those of the .proto file, and records come through messages unchanged."""

from pathlib import Path

import pytest

from harness.engines.base import Block, SessionCounts
from harness.engines.remote import messages
from harness.engines.remote import sessions_pb2 as wire
from harness.engines.remote.description import MOST_TOLD, Described, from_wire, to_wire
from harness.engines.remote.records import Appended, Done, Frame, RefusedError, SessionInfo, Truncated
from reports.records.measurement import DrafterInfo, Restoration
from reports.records.provenance import ModelInfo, Package, PluginInfo
from scripts.generate_stubs import PROTO, ROOT, STUBS, generate

STATS = SessionCounts(5, 7, 0.5, 0.25, 4096, ("one",), 12)
UNCOUNTED = SessionCounts(None, None, 0.5, 0.25, None, None)
NOTHING = SessionCounts(0, 0, 0.0, 0.0, 0, ())
DIGEST = "sha256:" + "a" * 64


def test_generating_the_stubs_again_gives_the_committed_ones(tmp_path: Path) -> None:
    generate(tmp_path)
    for name in STUBS:
        made = (tmp_path / PROTO.parent / name).read_text()
        assert made == (ROOT / PROTO.parent / name).read_text(), f"{name}: run python scripts/generate_stubs.py"


@pytest.mark.parametrize(
    "frame",
    [
        Truncated(3),
        Block((4, 5), 3, 1, 0.1, 0.2, 0.3, 0.4, 1.5),
        Done("TRUNCATED", 9, 0.5, 1.5, 2.5, STATS),
        Done("EOS", 9, 0.5, 1.5, 2.5, UNCOUNTED),
        Done("EOS", 9, 0.5, 1.5, 2.5, NOTHING),
    ],
)
def test_frames_come_through(frame: Frame) -> None:
    assert messages.frame_of(wire.GenerateFrame.FromString(messages.frame(frame).SerializeToString())) == frame


def test_other_answers_come_through() -> None:
    for following in (None, 0, 9):
        told = Appended(8, 0.5, STATS, following)
        assert messages.appended_of(messages.appended(told)) == told
    for stop in (None, "CANCELLED"):
        info = SessionInfo(8, 7, 4096, "ab" * 32, stop, "label")  # type: ignore[arg-type]
        assert messages.info_of(messages.info(info)) == info


def test_frames_that_nobody_knows_are_none() -> None:
    assert messages.frame_of(wire.GenerateFrame()) is None
    assert messages.frame_of(wire.GenerateFrame(done=wire.Done())) is None


def test_a_description_comes_through_and_a_wrong_one_is_refused() -> None:
    described = Described(
        engine="fused",
        decode_loop="fused_block",
        restoration=Restoration(mode="identity", exact_layers=(), sink=4, window=64, eviction="strict"),
        drafter=DrafterInfo(name="ngram", block_size=4),
        models=(ModelInfo(role="verifier", id="k3-tiny", weights=DIGEST),),
        packages=(Package(name="mlx", version="1"),),
        plugins=(PluginInfo(group="drafters", name="bigram", distribution="theirs", version="1", code=DIGEST),),
        device="cpu",
        vocabulary=1024,
    )
    message = to_wire(described, wire.Limits(sessions=3))
    assert from_wire(wire.DescribeResponse.FromString(message.SerializeToString())) == described
    assert from_wire(to_wire(Described(vocabulary=0), wire.Limits())) == Described(vocabulary=0)
    message.models[0].role = "king"
    with pytest.raises(RefusedError, match="role"):
        from_wire(message)


@pytest.mark.parametrize(
    ("plugin", "told"),
    [
        ({"group": "kings"}, "group"),
        ({"name": "x" * 201}, "name"),
        ({"distribution": ""}, "distribution"),
        ({"code": "a" * 64}, "code"),
        ({"code": "sha256:" + "a" * 2**20}, "code"),
    ],
)
def test_a_plugin_that_can_be_none_is_refused_in_a_line(plugin: dict[str, str], told: str) -> None:
    named = {"group": "engines", "name": "greedy", "distribution": "theirs", "version": "1", "code": DIGEST}
    message = wire.DescribeResponse(vocabulary=1024, plugins=[wire.Plugin(**named | plugin)])
    with pytest.raises(RefusedError, match=told) as refused:
        from_wire(message)
    assert len(str(refused.value)) < 600
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("field", ["plugins", "packages", "models"])
def test_a_server_that_names_more_than_can_be_is_refused(field: str) -> None:
    message = wire.DescribeResponse(vocabulary=1024)
    for _ in range(MOST_TOLD + 1):
        one = getattr(message, field).add()
        for name in set(one.DESCRIPTOR.fields_by_name) & {"name", "version", "distribution", "id"}:
            setattr(one, name, "x")
        for name, value in (("group", "engines"), ("role", "drafter")):
            if name in one.DESCRIPTOR.fields_by_name:
                setattr(one, name, value)
    with pytest.raises(RefusedError, match=field):
        from_wire(message)
