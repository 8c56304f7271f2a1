import pytest


def file(**more):
    return {
        "results": {
            "arc_easy": {"alias": "arc_easy", "acc,none": 0.71, "acc_stderr,none": 0.012},
            "gsm8k": {"alias": "gsm8k", "exact_match,strict-match": 0.3, "exact_match_stderr,strict-match": "N/A"},
        },
        "group_subtasks": {"arc_easy": []},
        "configs": {"arc_easy": {"task": "arc_easy"}},
        "versions": {"arc_easy": 1.0},
        "n-shot": {"arc_easy": 0},
        "config": {"model": "hf", "model_args": "pretrained=org/model,dtype=bfloat16"},
        "git_hash": "0123abc",
        **more,
    }


def test_scores_are_kept_as_stated_and_nothing_is_claimed(evidence, imported):
    assert evidence(file()).source == "lm-eval"
    report = imported(file())
    assert report.claims == ()
    assert [model.id for model in report.provenance.models] == ["org/model"]
    assert "stated: arc_easy, acc,none: 0.71" in report.imported.notes
    assert "stated: gsm8k, exact_match,strict-match: 0.3" in report.imported.notes
    assert not any("stderr" in note for note in report.imported.notes)


@pytest.mark.parametrize(
    ("more", "model"),
    [
        ({"model_name": "org/named"}, "org/named"),
        ({"config": {"model": "vllm", "model_args": {"pretrained": "/home/somebody/models/m"}}}, "m"),
        ({"config": None}, None),
    ],
)
def test_the_model_is_found_where_a_version_puts_it(imported, more, model):
    assert [one.id for one in imported(file(**more)).provenance.models] == ([model] if model else [])


@pytest.mark.parametrize(
    "document", [file(), file(results={}), file(results={"mmlu": {"acc,none": float("nan")}}), file(config=None)]
)
def test_an_honest_file_is_withheld_and_no_more(judged, document):
    assert judged(document).verdict == "withheld"


def test_results_alone_are_any_tools(evidence):
    assert evidence({"results": {"a": {"acc": 1}}}).source is None
