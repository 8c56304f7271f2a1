from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from reports.records.conduct.replay import DrawnFrom
from reports.replays.draw import draw

DIGEST = "sha256:" + "5" * 64
ARMS = st.lists(
    st.builds(DrawnFrom, arm=st.just("arm"), kind=st.sampled_from(["a", "b", "c"]), rows=st.integers(0, 30)),
    min_size=1,
    max_size=6,
).map(lambda arms: tuple(one.replace(arm=f"arm{place}") for place, one in enumerate(arms)))


@given(ARMS, st.integers(1, 40), st.integers(0, 2**31))
def test_a_draw_is_a_sample_and_one_of_every_kind_that_it_missed(
    arms: tuple[DrawnFrom, ...], asked: int, seed: int
) -> None:
    drawn = draw(DIGEST, seed, asked, arms)
    rows = {one.arm: one.rows for one in arms}
    kinds = {one.arm: one.kind for one in arms}
    assert len({(one.arm, one.place) for one in drawn}) == len(drawn)
    assert all(0 <= one.place < rows[one.arm] for one in drawn)
    assert sum(one.sampled for one in drawn) == min(asked, sum(rows.values()))
    assert {kinds[one.arm] for one in drawn} == {one.kind for one in arms if one.rows}
    added = [kinds[one.arm] for one in drawn if not one.sampled]
    assert not set(added) & {kinds[one.arm] for one in drawn if one.sampled}
    assert len(set(added)) == len(added)
    assert drawn == draw(DIGEST, seed, asked, arms)


def test_every_row_is_drawn_equally_often() -> None:
    arms = (DrawnFrom(arm="a", kind="a", rows=3), DrawnFrom(arm="b", kind="a", rows=2))
    seen = Counter(one for seed in range(3000) for one in draw(DIGEST, seed, 2, arms))
    assert len(seen) == 5
    assert all(1080 < count < 1320 for count in seen.values())  # 1200 each, five standard deviations of 27


def test_another_report_and_another_seed_draw_other_rows() -> None:
    arms = (DrawnFrom(arm="a", kind="a", rows=1000),)
    drawn = {draw(digest, seed, 10, arms) for digest in (DIGEST, DIGEST[:-1] + "6") for seed in range(5)}
    assert len(drawn) == 10
