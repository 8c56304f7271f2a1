from hypothesis import given, settings
from hypothesis import strategies as st

from gate.judging.apply_rules import apply_all
from gate.judging.judge import conclude, judge
from gate.rulebook.report_view import (
    ReportView,
    decode_loops,
    drafter_of,
    drafts,
    drafts_by_model,
    engine_of,
    foreign_peer,
)
from reports.drafters import DrafterKind
from reports.engines import ENGINES, EngineKind
from reports.records.measurement import DrafterInfo, Restoration, ServedBy
from reports.records.provenance import PluginInfo
from tests.gate.figures.rows import DIGESTS, arm, row
from tests.gate.honest import Setup, measured_niah

NIAH = conclude(measured_niah(Setup(samples=5, repeats=1)))


def test_loops_are_those_of_the_rows_and_of_the_arm_only_where_rows_are_silent() -> None:
    said = arm(row(0, decode_loop="plain"), row(1)).replace(decode_loop="generate_step")
    assert decode_loops(said) == {"plain", "generate_step"}
    assert decode_loops(arm()) == {None}


def test_an_engine_that_is_unknown_is_what_its_arm_says() -> None:
    drafter = DrafterInfo(name="lookahead", weights=DIGESTS[0])
    bounded = Restoration(mode="ablate", sink=4, window=64)
    said = arm().replace(engine="lookahead", decode_loop="lookahead_step", drafter=drafter, restoration=bounded)
    assert engine_of(said) == EngineKind("lookahead", "lookahead_step", drafts=True, bounds=True)
    peer = said.replace(role="peer")
    assert not foreign_peer(ReportView(NIAH), peer)
    plugin = PluginInfo(group="engines", name="lookahead", distribution="another", version="1", code=DIGESTS[1])
    assert NIAH.provenance is not None
    brought = NIAH.replace(provenance=NIAH.provenance.replace(plugins=(plugin,)))
    assert foreign_peer(ReportView(brought), peer)
    assert not foreign_peer(ReportView(brought), said)
    served = peer.replace(served_by=ServedBy(protocol="k3.sessions.v1"))
    assert not foreign_peer(ReportView(brought), served), "what the client has is not what the server runs"
    told = peer.replace(served_by=ServedBy(protocol="k3.sessions.v1", plugins=(plugin,)))
    assert foreign_peer(ReportView(NIAH), told)
    silent = arm().replace(engine="fused-and-so-on")
    assert engine_of(silent) == EngineKind("fused-and-so-on", "")
    assert not drafts(silent)


def test_a_drafter_that_is_unknown_has_weights_and_owes_its_parity() -> None:
    said = arm().replace(engine="fused", drafter=DrafterInfo(name="lookahead"))
    assert drafter_of(said) == DrafterKind("lookahead", "lookahead", weights=True, port=True)
    assert drafts_by_model(said)
    assert not drafts_by_model(said.replace(drafter=DrafterInfo(name="shuffled ngram")))
    assert drafter_of(arm()) is None


@given(st.text(min_size=1, max_size=200).filter(lambda name: name not in ENGINES))
@settings(max_examples=25, deadline=None)
def test_a_report_of_an_unknown_engine_is_judged_to_the_end_and_admits_nothing(engine: str) -> None:
    arms = tuple(one.replace(engine=engine) if one.role == "sut" else one for one in NIAH.arms)
    renamed = NIAH.replace(arms=arms)
    assert judge(NIAH).headlines
    assert not judge(renamed).headlines
    fired = list(apply_all(ReportView(renamed)))
    assert "KIND_MISMATCH" in {one.rule.code for one in fired}
    assert not any(one.crashed for one in fired)
