"""Loopback addresses, and tokens with roles."""

import pytest

from rosenblatt.access import Tokens, is_loopback, read_tokens


def test_hosts_that_only_this_computer_can_reach():
    assert all(map(is_loopback, ["127.0.0.1", "localhost", "::1", "127.8.9.1"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "10.0.0.1", "example.org"]))


def test_a_token_has_the_role_of_its_line(tmp_path):
    (tmp_path / "tokens").write_text("predict " + "p" * 16 + "\n" + "a" * 16 + "\n")
    tokens = Tokens(tmp_path / "tokens")
    assert (tokens.find_role("p" * 16), tokens.find_role("a" * 16)) == ("predict", "admin")
    assert not any(map(tokens.find_role, ("", "a" * 15, "b" * 16, "é" * 16)))
    assert Tokens().find_role("") == "admin"


def test_a_token_is_long_enough_and_of_ascii_letters(tmp_path):
    path = tmp_path / "token"
    path.write_text("  sesame-open-the-door\n\n")
    assert read_tokens(path) == {b"sesame-open-the-door": "admin"}
    for text in ("", "short", "é" * 20, "a" * 16 + "\n" + "b" * 10, "learn " + "a" * 15):
        path.write_text(text)
        with pytest.raises(ValueError, match="16 or more ASCII letters"):
            read_tokens(path)
