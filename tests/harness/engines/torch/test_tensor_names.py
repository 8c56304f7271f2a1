from harness.engines.torch.tensor_names import Piece, pieces_of

ALL = slice(None)


def test_the_same_name_is_found_inside_a_multimodal_model() -> None:
    name, shape = "model.layers.0.mlp.up_proj.weight", (8, 4)
    for held in (name, f"language_model.{name}", "model.language_model.layers.0.mlp.up_proj.weight"):
        assert pieces_of(name, shape, {held}) == (Piece(held),)
    assert pieces_of(name, shape, {"vision_tower.layers.0.mlp.up_proj.weight"}) == ()


def test_gates_come_before_ups() -> None:
    stored = {f"a.experts.switch_glu.{part}_proj.weight" for part in ("gate", "up", "down")}
    assert pieces_of("a.experts.gate_up_proj", (3, 10, 4), stored) == (
        Piece("a.experts.switch_glu.gate_proj.weight", (ALL, slice(0, 5))),
        Piece("a.experts.switch_glu.up_proj.weight", (ALL, slice(5, 10))),
    )
    assert pieces_of("a.experts.down_proj", (3, 4, 5), stored) == (
        Piece("a.experts.switch_glu.down_proj.weight", (ALL, ALL)),
    )


def test_an_expert_that_is_missing_is_none_of_them() -> None:
    stored = {f"a.mlp.experts.{expert}.down_proj.weight" for expert in range(3)}
    found = pieces_of("a.mlp.experts.down_proj", (3, 4, 5), stored)
    assert [piece.index for piece in found] == [(0, ALL), (1, ALL), (2, ALL)]
    assert pieces_of("a.mlp.experts.down_proj", (4, 4, 5), stored) == ()
