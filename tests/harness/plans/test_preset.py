"""Presets: typed, bounded, and refused with one line that names the key and the nearest right one."""

import re
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.plans.kinds import plan_of
from harness.plans.plan import RunPlan, make_plan
from harness.plans.preset_file import load_preset, preset_names, preset_of_flags, read_preset
from reports.records.record import digest_of


@pytest.mark.parametrize("name", preset_names())
def test_every_shipped_preset_loads_and_plans(name: str) -> None:
    plan = plan_of(load_preset(name))
    assert plan.preset.name == name
    if not isinstance(plan, RunPlan):
        return
    roles = [arm.role for arm in plan.arms]
    assert roles.count("oracle") == roles.count("null") == 1
    assert any(arm.prompt_set == "needle_free" for arm in plan.arms) == (plan.preset.kind == "niah")


def test_overrides_are_applied_and_remembered() -> None:
    loaded = load_preset("demo", ["samples=7", "workload.lines=33", "arms.identity.window=32", "model=/a/b"])
    assert loaded.preset.samples == 7
    assert loaded.preset.workload.lines == 33
    assert loaded.preset.arms[0].window == 32
    assert loaded.preset.model == "/a/b"
    assert loaded.overrides[0] == "samples=7"


def test_pytorch_is_one_word_and_its_device_and_type_are_of_it_alone() -> None:
    assert load_preset("demo").preset.packages() == {"mlx"}
    preset = load_preset("demo", ["backend=torch", "device=cuda", "dtype=bfloat16"]).preset
    assert preset.packages() == {"torch", "transformers"}
    with pytest.raises(UsageError, match="device and dtype are of backend torch"):
        load_preset("demo", ["device=cuda"])
    with pytest.raises(UsageError, match="engine mlx-lm-speculative does not run on backend torch"):
        plan_of(load_preset("peer-speculative-smollm2", ["backend=torch"]))


def test_an_override_changes_the_plan_but_not_the_file_digest() -> None:
    plain, changed = load_preset("demo"), load_preset("demo", ["seed=7"])
    assert plain.digest == changed.digest
    assert make_plan(plain).digest() != make_plan(changed).digest()


def test_where_a_key_lies_and_how_long_a_server_is_waited_for_make_no_other_plan() -> None:
    """As with a copied file of prompts: who moves a key would hide the runs before."""

    def asking(**changes: object) -> RunPlan:
        remote = {"address": "127.0.0.1:50051", "token_file": "~/k3.token", "timeout_s": 600.0} | changes
        arm = {"name": "there", "role": "sut", "engine": "remote", "label": "there", "remote": remote}
        plan = plan_of(
            preset_of_flags({"name": "own", "title": "O", "kind": "code", "model": "k3-tiny", "arms": [arm]})
        )
        assert isinstance(plan, RunPlan)
        return plan

    plain = asking()
    for changes in ({"token_file": "/tmp/copy"}, {"tls_ca": "ca.pem"}, {"timeout_s": 30.0}):
        assert (asking(**changes).digest(), asking(**changes).family()) == (plain.digest(), plain.family())
    other = asking(address="127.0.0.1:50052")
    assert other.digest() != plain.digest()
    assert other.family() != plain.family()


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("sampels=3", "did you mean 'samples'"),
        ("samples=many", "samples"),
        ("samples=0", "samples"),
        ("samples=true", "samples"),
        ("samples=1.5", "samples"),
        ("samples", "key=value"),
        ("kind=code", "no such key"),
        ("workload.lines=1", "workload.lines"),
        ("workload.depth=1", "no such key"),
        ("arms.idntity.window=3", "did you mean 'identity'"),
        ("arms.identity.engine=ar", "no such key"),
        ("arms.identity.window=0", "arms.identity.window: must be at least 1"),
        ("arms.ablate.windw=0", "did you mean 'arms.ablate.window'?"),
        ("lines=3", "did you mean 'workload.lines'?"),
        ("workload.line=3", "did you mean 'workload.lines'?"),
        ("window=3", "did you mean 'arms.NAME.window'?"),
        ("nonsense=3", "workload.part, arms.NAME.FIELD"),
        ("arms.identity.exact_layers=[3,1]", "ascending"),
        ("arms.identity.exact_layers=all", "exact_layers"),
        ("arms.identity.exact_layers=[0]\n", ""),
    ],
)
def test_bad_overrides_are_refused_in_one_line(override: str, said: str) -> None:
    if not said:
        make_plan(load_preset("demo", [override]))
        return
    with pytest.raises(UsageError) as caught:
        make_plan(load_preset("demo", [override]))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("preset", "override", "said"),
    [
        ("mac-parity-f32", "repeats=3", "no such key"),
        ("mac-parity-f32", "candidate.dtype=float64", "candidate.dtype"),
        ("mac-parity-f32", "candidate.kind=dflash-torch", "no such key"),
        ("mac-parity-f32", "arms.fused.window=3", "no such key"),
        ("mac-parity-f32", "block_size=1", "block_size"),
        ("mac-code", "arms.fused.drafter.block_sise=3", "did you mean 'arms.fused.drafter.block_size'"),
        ("code-tiny", "workload.prompt=mine.jsonl", "did you mean 'workload.prompts'?"),
        ("mac-code", "arms.fused.drafter=3", "no such key"),
        ("mac-native-baseline", "arms.native.drafter.block_size=3", "has no drafter"),
        ("peer-speculative-gemma3", "arms.fused_model.drafter.bits=7", "drafter.bits"),
        ("mac-code", "arms.fused.drafter.bits=4", "or set kind model"),
    ],
)
def test_keys_of_nested_tables_are_checked(preset: str, override: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan_of(load_preset(preset, [override]))
    assert said in str(caught.value)


def test_nested_values_are_replaced() -> None:
    parity = load_preset("mac-parity-bf16", ["candidate.dtype=float32", "workload.items=5", "drafter=/a/b"]).preset
    assert (parity.candidate.dtype, parity.reference.dtype) == ("float32", "bfloat16")
    assert parity.workload.items == 5
    assert [model.name for model in parity.models()] == ["mac-26b", "/a/b"]
    code = load_preset("mac-code", ["arms.fused.drafter.block_size=4"]).preset
    assert [arm.drafter.block_size for arm in code.arms] == [4, 8]


def test_parity_of_a_runtime_with_itself_is_refused() -> None:
    document = {"name": "p", "title": "", "kind": "parity", "model": "m", "drafter": "d", "samples": 1}
    with pytest.raises(UsageError, match="both dflash"):
        plan_of(preset_of_flags(document | {"reference": {"kind": "dflash"}}))


def test_two_arms_of_one_name_are_refused() -> None:
    arm = {"name": "oracle", "role": "sut", "engine": "ar"}
    with pytest.raises(UsageError, match="the name 'oracle' is taken"):
        preset_of_flags({"name": "p", "title": "", "kind": "code", "model": "m", "arms": [arm]})


def test_a_file_of_ones_own_that_is_named_without_its_ending_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").touch()
    with pytest.raises(
        UsageError, match=r"^no preset named 'mine'; a file of yours is named with its ending: mine.toml$"
    ):
        load_preset("mine")


def test_an_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'demo'"):
        load_preset("dem")


def own(folder: Path, text: str | bytes) -> str:
    path = folder / "mine.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_a_preset_of_ones_own_is_loaded_by_its_path(tmp_path: Path) -> None:
    text = read_preset("demo").decode().replace('"demo"', '"mine"', 1)
    loaded = load_preset(own(tmp_path, text), ["samples=7"])
    shipped = load_preset("demo", ["samples=7"])
    assert (loaded.preset.name, loaded.digest, loaded.overrides) == ("mine", digest_of(text.encode()), ("samples=7",))
    assert loaded.preset.replace(name="demo") == shipped.preset


def test_a_copy_of_a_shipped_preset_keeps_its_name_as_long_as_it_is_unchanged(tmp_path: Path) -> None:
    data = read_preset("demo")
    assert load_preset(own(tmp_path, data)) == load_preset("demo")
    with pytest.raises(UsageError, match="'demo' is a preset that ships with K3: give yours a name of its own"):
        load_preset(own(tmp_path, data + b"# changed\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "kind: None is none of"),
        ("kind = ", "no TOML: Invalid value"),
        (b"\xff\xfe", "no TOML: 'utf-8' codec"),
        ("a = " + "[" * 100_000, "no TOML"),
        (b"#" * (2**20 + 1), "over 1 MB"),
        ("samples = " + "9" * 5000, "no TOML"),
        ("kind = [1]", "kind: [1] is none of"),
        ('kind = "niah"', "name"),
        ('kind = "niah"\nname = "../x"\ntitle = ""\nmodel = "k3-tiny"\nsamples = 5', "name"),
    ],
    ids=[
        "empty",
        "cut short",
        "UTF-16",
        "deep",
        "large",
        "digits",
        "kind in a list",
        "without a name",
        "a path for a name",
    ],
)
def test_a_file_that_is_no_preset_is_refused_in_one_line(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(UsageError, match=r"preset .*mine\.toml") as caught:
        load_preset(own(tmp_path, text))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["../presets/nothing", "./nothing.toml", "/dev/zero", "."])
def test_a_path_without_a_preset_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        load_preset(name)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["arms.native.restoration=identity"], "restores nothing"),
        (["arms.native.label=fast"], "labelled native_ar_baseline"),
    ],
)
def test_arms_that_contradict_themselves_are_refused(overrides: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_plan(load_preset("native-baseline-smollm2", overrides))


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["arms.f_theta.restoration=identity"], "names its weights in f_theta"),
        (["arms.ablate.restoration=f_theta"], "names its weights in f_theta"),
        (["arms.identity.residency=transient"], "transient is for f_theta"),
        (["arms.ablate.residency=resident"], "puts back: nothing"),
    ],
)
def test_restorations_that_contradict_themselves_are_refused(overrides: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_plan(load_preset("ftheta-smollm2", overrides))


def test_the_fused_engine_restores_and_the_carrying_one_does_not() -> None:
    arms = {arm.name: arm.spec for arm in make_plan(load_preset("ftheta-tiny")).arms}
    assert (arms["fused_f_theta"].engine, arms["fused_f_theta"].restoration) == ("fused", "f_theta")
    with pytest.raises(UsageError, match="fused-carry restores nothing; use engine incremental or fused"):
        make_plan(load_preset("mac-code", ["arms.fused.restoration=identity"]))


def test_an_f_theta_is_a_model_of_its_run() -> None:
    models = load_preset("ftheta-smollm2").preset.models()
    assert [(model.role, model.name) for model in models] == [
        ("verifier", "smollm2-135m"),
        ("f_theta", "smollm2-135m-ftheta"),
    ]


@pytest.mark.parametrize(
    ("text", "override"),
    [
        ('name = "ablate"', "arms.ablate.sink=4"),
        ("[workload]\nlines = 38", "workload.lines=3"),
    ],
)
def test_a_preset_that_is_none_is_refused_before_it_is_overridden(tmp_path: Path, text: str, override: str) -> None:
    whole = read_preset("demo").decode().replace('"demo"', '"mine"', 1)
    assert text in whole
    broken = whole.replace(text, "name_ = 1" if text.startswith("name") else "", 1)
    if text.startswith("["):
        broken = "workload = 5\n" + broken
    with pytest.raises(UsageError, match=r"preset .*mine\.toml"):
        load_preset(own(tmp_path, broken), [override])


def test_an_override_of_thousands_of_digits_is_refused_in_one_line() -> None:
    with pytest.raises(UsageError, match="samples"):
        load_preset("demo", [f"samples={'9' * 5000}"])


@pytest.mark.parametrize(
    ("was", "written", "told"),
    [
        ('drafter = { kind = "dflash"', 'drafter = "ngram" #', 'is a table, not text: drafter = { kind = "ngram" }'),
        ("[workload]", 'workload = "code"\n[w]', "workload: is a table, not text: [workload] and its keys below"),
    ],
)  # fmt: skip
def test_a_word_in_the_place_of_a_table_is_told_the_form(tmp_path: Path, was: str, written: str, told: str) -> None:
    text = read_preset("code-tiny").decode().replace('"code-tiny"', '"mine"')
    with pytest.raises(UsageError, match=re.escape(told)):
        load_preset(own(tmp_path, text.replace(was, written)))
