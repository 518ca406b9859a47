"""Whom a server lets in."""

import pytest

from rosenblatt.access import admits, is_loopback, read_token


def test_hosts_that_only_this_computer_can_reach():
    assert all(map(is_loopback, ["127.0.0.1", "localhost", "::1", "127.8.9.1"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "10.0.0.1", "example.org"]))


def test_a_token_lets_in_and_nothing_else_does():
    assert admits("a" * 16, "a" * 16)
    assert not any(admits("a" * 16, given) for given in ("", "a" * 15, "b" * 16, "é" * 16))
    assert admits(None, "")


def test_a_token_is_long_enough_and_of_ascii_letters(tmp_path):
    path = tmp_path / "token"
    path.write_text("  sesame-open-the-door\n")
    assert read_token(path) == "sesame-open-the-door"
    for text in ("short", "é" * 20, "a" * 10 + "\n" + "b" * 10):
        path.write_text(text)
        with pytest.raises(ValueError, match="16 or more ASCII letters"):
            read_token(path)
