"""Names of requests, refs and remotes: nothing else gets into an argument of git."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.bridge.names import RequestName, check_nonce, check_ref, check_remote, name_of, new_nonce, request_named


def test_a_branch_is_named_after_its_request_and_back() -> None:
    name = RequestName("code-tiny", new_nonce())
    assert name_of(name.branch) == name
    assert request_named(name.branch) == request_named(name.branch.removeprefix("k3-bridge/")) == name


@pytest.mark.parametrize(
    "branch",
    [
        "main",
        "k3-bridge/",
        "k3-bridge/code-tiny",
        "k3-bridge/code-tiny-0123456789abcde",
        "k3-bridge/code-tiny-0123456789abcdef\n",
        "k3-bridge/code-tiny-0123456789abcdef/x",
        "k3-bridge/../main-0123456789abcdef",
        "k3-bridge/--upload-pack=x-0123456789abcdef",
        "k3-bridge/code\x07tiny-0123456789abcdef",
        "k3-bridge/code tiny-0123456789abcdef",
    ],
)
def test_no_other_branch_is_one_of_a_request(branch: str) -> None:
    assert name_of(branch) is None


@pytest.mark.parametrize("ref", ["main", "HEAD", "HEAD~2", "v1.0", "feature/x_y", "a" * 40])
def test_refs_pass(ref: str) -> None:
    assert check_ref(ref) == ref


@pytest.mark.parametrize(
    "ref",
    ["", "-x", "--upload-pack=x", "a..b", "a b", "a\nb", ":/fix", "HEAD@{1}", "a//b", "a:b", "\x1b[2J", "a" * 201, "*"],
)
def test_what_is_no_plain_ref_is_refused(ref: str) -> None:
    with pytest.raises(UsageError, match="--ref"):
        check_ref(ref)


@pytest.mark.parametrize(
    "remote",
    ["", "-x", "--upload-pack=x", "-oProxyCommand=x", "ext::sh -c x", "https://host/x", "../x", "/tmp/x", "a b"],
)
def test_what_is_no_name_of_a_remote_is_refused(remote: str) -> None:
    with pytest.raises(UsageError, match="--remote"):
        check_remote(remote)


@pytest.mark.parametrize("nonce", ["", "0" * 15, "0" * 17, "G" * 16, "-" * 16, "0" * 15 + "\n"])
def test_what_is_no_nonce_is_refused(nonce: str) -> None:
    with pytest.raises(UsageError, match="nonce"):
        check_nonce(nonce)


@given(st.text())
def test_a_request_is_named_or_refused_in_one_line(text: str) -> None:
    try:
        told = request_named(text).branch
    except UsageError as error:
        told = str(error)
    assert told.isprintable()
