"""Bars at a terminal."""

from rosenblatt.training.bars import show_epochs


def test_a_bar_over_epochs_stays_with_its_last_words(capsys):
    with show_epochs(1) as move:
        move(1, 0.5, "3 mistakes")
        move(2, 1.0, "5 mistakes")
    words = capsys.readouterr().out.split()
    assert words[:2] == ["epoch", "2"]
    assert "5 mistakes" in " ".join(words)
    with show_epochs(0) as move:
        assert move is None
