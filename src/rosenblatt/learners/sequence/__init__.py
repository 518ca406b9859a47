"""Tags of sequences: words, templates, the structured perceptron, and its scikit-learn face."""
