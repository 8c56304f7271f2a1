"""The three invariants, each seen to be found when it is broken, and never otherwise."""

import random

import mlx.core as mx
import pytest

from harness.engines.mlx.engines.incremental import EvictingSession
from harness.engines.remote.records import RefusedError
from harness.remote.service import SessionService
from harness.remote.session import ServedSession
from tests.harness.remote.served import ENGINES, append, generate, history_of, running


def opened(service: SessionService, name: str) -> ServedSession:
    session = service._sessions[name]
    assert isinstance(session, ServedSession)
    return session


def refused(service: SessionService, name: str) -> str:
    """What the service says of a broken session, to every call."""
    with pytest.raises(RefusedError) as first:
        generate(service, name, 3)
    with pytest.raises(RefusedError) as then:
        append(service, name, [5])
    with pytest.raises(RefusedError) as told:
        service.info(name)
    assert {error.value.status for error in (first, then, told)} == {"FAILED_PRECONDITION"}
    assert str(first.value) in str(then.value)
    service.close(name)
    return str(first.value)


@pytest.mark.parametrize("case", ENGINES)
def test_histories_split_and_interleaved_give_the_tokens_of_one_append(case: str) -> None:
    """INV-3, as a client sees it: however it is built up, also in sessions side by side."""
    chance = random.Random(f"sessions {case}")
    with running(case) as service:
        for _ in range(2):
            whole = history_of(chance, chance.randint(20, 160))
            once = service.create("once", ())
            assert append(service, once, whole) == len(whole)
            wanted = generate(service, once, 12)
            names = [service.create("split", ()) for _ in range(3)]
            left = {name: list(whole) for name in names}
            while left:
                name = chance.choice(list(left))
                count = chance.choice([1, 1, 2, 7, 40, 200])
                append(service, name, left[name][:count])
                left[name] = left[name][count:]
                if not left[name]:
                    del left[name]
            for name in names:
                first = generate(service, name, 5)
                assert first + generate(service, name, 7) == wanted
                assert service.info(name).digest == service.info(once).digest
            for name in (once, *names):
                service.close(name)
        assert service.seen.compared > 50


@pytest.mark.parametrize("case", ENGINES)
def test_inv_1_a_history_that_is_not_what_came_in_is_found(case: str) -> None:
    with running(case) as service:
        name = service.create("", ())
        append(service, name, list(range(5, 30)))
        opened(service, name).history.tokens[3] += 1
        assert refused(service, name).startswith("INV-1")
        name = service.create("", ())
        append(service, name, list(range(5, 30)))
        opened(service, name).history.tokens.append(7)
        assert refused(service, name).startswith("INV-1")


def test_inv_2_a_cache_that_is_not_where_the_history_is_is_found() -> None:
    with running("incremental") as service:
        name = service.create("", ())
        append(service, name, list(range(5, 30)))
        held = opened(service, name)._session
        assert isinstance(held, EvictingSession)
        for layer in held.cache.layers:
            layer.offset += 1
        for group in held.cache.groups:
            group.layout.next += 1
        assert refused(service, name).startswith("INV-2")


def test_inv_2_layers_that_disagree_are_found() -> None:
    with running("incremental") as service:
        name = service.create("", ())
        append(service, name, list(range(5, 30)))
        held = opened(service, name)._session
        assert isinstance(held, EvictingSession)
        held.cache.layers[0].offset += 1
        assert "layers have read" in refused(service, name)


def test_inv_3_the_same_history_that_gives_another_token_is_found() -> None:
    """K/V of one session are spoilt; another one has said what follows that history."""
    with running("incremental") as service:
        history = list(range(5, 30))
        sound, spoilt = service.create("", ()), service.create("", ())
        append(service, sound, history)
        generate(service, sound, 8)
        append(service, spoilt, history)
        held = opened(service, spoilt)._session
        assert isinstance(held, EvictingSession)
        for layer in held.cache.layers:
            assert layer.values is not None
            layer.values = layer.values + 30 * mx.random.normal(layer.values.shape, key=mx.random.key(1))
            mx.eval(layer.values)
        with pytest.raises(RefusedError, match="INV-3") as error:
            generate(service, spoilt, 8)
        assert error.value.status == "FAILED_PRECONDITION"
        assert generate(service, sound, 2)


def test_what_breaks_in_one_session_breaks_no_other() -> None:
    with running("ar") as service:
        one, other = service.create("", ()), service.create("", ())
        for name in (one, other):
            append(service, name, list(range(5, 30)))
        opened(service, one).history.tokens.pop()
        with pytest.raises(RefusedError):
            generate(service, one, 3)
        assert len(generate(service, other, 3)) == 3
