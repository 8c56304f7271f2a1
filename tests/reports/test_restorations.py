"""The vocabulary of restoration: every mode that a report can name is described."""

from typing import get_args

from reports.restorations import RESTORATIONS, RestorationMode


def test_every_mode_is_described() -> None:
    assert tuple(RESTORATIONS) == get_args(RestorationMode)
    assert all(kind.mode == mode for mode, kind in RESTORATIONS.items())


def test_only_what_was_evicted_is_restored_and_only_what_is_restored_can_be_lossless() -> None:
    for kind in RESTORATIONS.values():
        assert kind.evicts or not kind.restores
        assert not kind.learned or kind.restores
        assert kind.lossless == (not kind.evicts or (kind.restores and not kind.learned))
