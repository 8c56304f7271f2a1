import random

import pytest

from harness.engines.base import Block
from harness.engines.remote.records import Done, RefusedError, Sampling, Truncated
from harness.remote.limits import Limits
from harness.remote.service import SessionService
from tests.harness.remote.served import ENGINES, GREEDY, append, generate, history_of, running, tokens_of

TEXT = history_of(random.Random(4), 90)


def filled(service: SessionService, tokens: list[int] = TEXT, stops: tuple[int, ...] = ()) -> str:
    name = service.create("", stops)
    append(service, name, tokens)
    return name


@pytest.mark.parametrize("case", ENGINES)
def test_frames_come_in_order_and_add_up(case: str) -> None:
    with running(case) as service:
        name = filled(service)
        frames = list(service.generate(name, 9, GREEDY))
        bounded = case in ("incremental", "fused-bounded")
        assert [frame for frame in frames if isinstance(frame, Truncated)] == [Truncated(90 - 68)] * bounded
        assert isinstance(frames[0], Truncated) == bounded
        assert [isinstance(frame, Done) for frame in frames] == [False] * (len(frames) - 1) + [True]
        done = frames[-1]
        assert isinstance(done, Done)
        assert (done.stop, done.tokens, len(tokens_of(frames))) == ("MAX_TOKENS", 9, 9)
        assert done.stats.kv_bytes > 0
        assert (done.stats.evicted_positions > 0) == bounded
        info = service.info(name)
        assert (info.history_length, info.last_stop) == (99, "MAX_TOKENS")
        assert 98 <= info.next_position <= 99


@pytest.mark.parametrize("case", ENGINES)
def test_a_stop_token_ends_a_generation_that_goes_on_afterwards(case: str) -> None:
    with running(case) as service:
        wanted = generate(service, filled(service), 12)
        stop = wanted[4]
        cut = wanted.index(stop) + 1
        of_session, of_call = filled(service, stops=(stop,)), filled(service)
        first, then = (
            list(service.generate(of_session, 12, GREEDY)),
            list(service.generate(of_call, 12, GREEDY, [stop])),
        )
        for name, frames in ((of_session, first), (of_call, then)):
            assert tokens_of(frames) == wanted[:cut]
            assert isinstance(frames[-1], Done)
            assert frames[-1].stop == "EOS"
            more = list(service.generate(name, 12 - cut, GREEDY))
            assert tokens_of(more) == wanted[cut:][: len(tokens_of(more))]


def test_a_history_that_grows_to_its_bound_ends_truncated() -> None:
    with running("ar", Limits(history_tokens=95)) as service:
        name = filled(service)
        frames = list(service.generate(name, 20, GREEDY))
        assert isinstance(frames[-1], Done)
        assert (frames[-1].stop, frames[-1].tokens) == ("TRUNCATED", 5)
        (only,) = service.generate(name, 20, GREEDY)
        assert isinstance(only, Done)
        assert (only.stop, only.tokens) == ("TRUNCATED", 0)
        with pytest.raises(RefusedError) as refused:
            append(service, name, [5])
        assert refused.value.status == "RESOURCE_EXHAUSTED"


@pytest.mark.parametrize("case", ENGINES)
def test_a_cancelled_generation_leaves_a_session_that_goes_on(case: str) -> None:
    with running(case) as service:
        wanted = generate(service, filled(service), 40)
        name = filled(service)
        call = service.generate(name, 40, GREEDY)
        frames = iter(call)
        while not isinstance(next(frames), Block):
            pass
        call.cancel()
        with pytest.raises(RefusedError):
            list(frames)
        info = service.info(name)
        assert info.last_stop == "CANCELLED"
        emitted = info.history_length - len(TEXT)
        assert 1 <= emitted < 40
        assert generate(service, name, 40 - emitted) == wanted[emitted:]


def test_refusals_change_nothing() -> None:
    with running("incremental", Limits(sessions=2, history_tokens=200, stop_tokens=3)) as service:
        name = filled(service)
        before = service.info(name)
        wrong = {
            "INVALID_ARGUMENT": [
                lambda: service.append(name, []),
                lambda: service.append(name, [5, 1024]),
                lambda: service.append(name, [-1]),
                lambda: service.generate(name, 0, GREEDY),
                lambda: service.generate(name, 201, GREEDY),
                lambda: service.generate(name, 3, Sampling(temperature=0.7)),
                lambda: service.generate(name, 3, Sampling(temperature=float("nan"))),
                lambda: service.generate(name, 3, Sampling(top_p=0.9)),
                lambda: service.generate(name, 3, Sampling(top_k=5)),
                lambda: service.generate(name, 3, GREEDY, [1, 2, 3, 4]),
                lambda: service.create("x" * 201, ()),
                lambda: service.create("", (5000,)),
            ],
            "NOT_FOUND": [
                lambda: service.append("nobody", [5]),
                lambda: service.generate("nobody", 3, GREEDY),
                lambda: service.info("nobody"),
                lambda: service.close("nobody"),
                lambda: service.hold("nobody"),
            ],
            "RESOURCE_EXHAUSTED": [lambda: append(service, name, [5] * 111)],
        }
        for status, calls in wrong.items():
            for call in calls:
                with pytest.raises(RefusedError) as refused:
                    call()  # type: ignore[no-untyped-call]
                assert refused.value.status == status
        assert service.info(name) == before
        assert generate(service, name, 3)


def test_greedy_said_aloud_is_greedy() -> None:
    with running("ar") as service:
        (one, *_) = service.generate(filled(service), 1, Sampling(temperature=0, top_p=1, top_k=1))
        assert isinstance(one, Block)


def test_nothing_appended_is_said_and_harms_nothing() -> None:
    with running("ar") as service:
        name = service.create("", ())
        with pytest.raises(RefusedError) as refused:
            generate(service, name, 3)
        assert refused.value.status == "INVALID_ARGUMENT"
        append(service, name, TEXT)
        assert generate(service, name, 3)


def test_a_service_without_generator_makes_sessions_and_reads_nothing() -> None:
    with running(None) as service:
        name = service.create("", ())
        for call in (lambda: service.append(name, [5]), lambda: service.generate(name, 3, GREEDY)):
            with pytest.raises(RefusedError) as refused:
                call()
            assert refused.value.status == "UNIMPLEMENTED"
        service.close(name)


def test_too_many_sessions_and_too_many_bytes_are_refused_until_some_are_freed() -> None:
    with running("ar", Limits(sessions=2)) as service:
        first, _ = service.create("", ()), service.create("", ())
        with pytest.raises(RefusedError) as refused:
            service.create("", ())
        assert refused.value.status == "RESOURCE_EXHAUSTED"
        service.close(first)
        assert service.create("", ())
    with running("ar", Limits(kv_bytes=1)) as service:
        one, other = filled(service), service.create("", ())
        with pytest.raises(RefusedError) as refused:
            append(service, other, TEXT)
        assert refused.value.status == "RESOURCE_EXHAUSTED"
        service.close(one)
        assert append(service, other, TEXT) == len(TEXT)


@pytest.mark.parametrize("case", ["ar", "fused"])
def test_bytes_that_run_out_while_a_history_is_read_leave_the_rest_for_later(case: str) -> None:
    long = history_of(random.Random(5), 1500)
    with running(case) as service:
        once = filled(service, long)
        wanted, a_token = generate(service, once, 80), service.kv_bytes() // 1500
    with running(case, Limits(kv_bytes=700 * a_token)) as service:
        name = service.create("", ())
        for call in (lambda: append(service, name, long), lambda: generate(service, name, 3)):
            with pytest.raises(RefusedError, match="close one") as refused:
                call()
            assert refused.value.status == "RESOURCE_EXHAUSTED"
        info = service.info(name)
        assert info.next_position < info.history_length == len(long)
        service.limits = Limits(kv_bytes=1530 * a_token)
        frames = list(service.generate(name, 2000, GREEDY))
        assert isinstance(frames[-1], Done)
        assert frames[-1].stop == "TRUNCATED"
        emitted = tokens_of(frames)
        assert emitted[:80] == wanted[: len(emitted)]
        service.limits = Limits()
        assert generate(service, name, 2)


def test_a_session_without_a_generator_is_closed_when_nobody_calls_it() -> None:
    with running(None, Limits(idle_seconds=1)) as service:
        old, new = service.create("", ()), service.create("", ())
        service._sessions[old].last_call -= 2
        service.close_idle()
        assert (service.exists(old), service.exists(new)) == (False, True)


def test_a_session_nobody_calls_is_closed_and_one_in_use_is_not() -> None:
    with running("ar", Limits(idle_seconds=1)) as service:
        idle, used = filled(service), filled(service)
        service._sessions[idle].last_call -= 2
        service.close_idle()
        assert (service.exists(idle), service.exists(used)) == (False, True)


def test_a_client_that_closes_an_idle_session_first_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with running("ar", Limits(idle_seconds=1)) as service:
        idle = filled(service)
        service._sessions[idle].last_call -= 2

        def closed_meanwhile(name: str) -> bool:
            service.close(name)
            return False

        with monkeypatch.context() as patched:
            patched.setattr(service.device, "busy", closed_meanwhile)
            service.close_idle()
        assert not service.exists(idle)


def test_closing_frees_the_bytes_and_no_id_is_used_twice() -> None:
    with running("ar") as service:
        names = {filled(service) for _ in range(5)}
        assert len(names) == 5
        assert all(len(name) >= 32 for name in names)
        assert service.kv_bytes() > 0
        for name in names:
            service.close(name)
        assert service.kv_bytes() == 0
