"""Tags of sequences: words, templates, and the structured perceptron without scikit-learn."""
