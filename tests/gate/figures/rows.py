"""Rows and arms made by hand, for figures that are derived from them."""

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
