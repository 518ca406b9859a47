"""The picture of docs/sequences.md: python examples/lattice.py docs."""

import sys
from pathlib import Path

from rosenblatt import SequencePerceptron, plots

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["she", "saw", "the", "old", "dog"]]
y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["PRON", "VERB", "DET", "ADJ", "NOUN"]]
sentence, right = ["the", "old", "dogs", "bark", "loudly"], ["DET", "ADJ", "NOUN", "VERB", "ADV"]

tagger = SequencePerceptron(solution="last")  # the average would hide a single update
tagger.partial_fit(X, y, classes=["ADJ", "ADV", "DET", "NOUN", "PRON", "VERB"])
display = plots.LatticeDisplay.from_update(tagger, sentence, right)
for lattice in display.lattices:
    print(lattice.title, *lattice.paths[0][0], f"{lattice.paths[0][1]:.0f}")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
display.save(folder / "sequences-lattice.png", dpi=90)
