from gate.rulebook.report_view import decode_loops
from reports.records.measurement import Arm, Measurement, Role

DIGESTS = tuple("sha256:" + f"{index:064x}" for index in range(10))


def row(sample: int, repeat: int = 0, **fields: object) -> Measurement:
    """A row of ten decode tokens in one second."""
    base: dict[str, object] = {
        "sample": sample,
        "repeat": repeat,
        "prompt_digest": DIGESTS[sample % 10],
        "decode_tokens": 10,
        "decode_s": 1.0,
        "e2e_s": 2.0,
        "prefill_s": 1.0,
        "prompt_tokens": 100,
    }
    return Measurement.model_validate(base | fields)


def arm(*rows: Measurement, name: str = "arm", role: Role = "sut") -> Arm:
    """An arm with these rows."""
    return Arm(name=name, role=role, engine="ar", measurements=rows)


def test_loops_are_those_of_the_rows_and_of_the_arm_only_where_rows_are_silent() -> None:
    said = arm(row(0, decode_loop="plain"), row(1)).replace(decode_loop="generate_step")
    assert decode_loops(said) == {"plain", "generate_step"}
    assert decode_loops(arm()) == {None}
