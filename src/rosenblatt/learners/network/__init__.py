"""Networks that grow one perceptron at a time, each trained by the perceptron rule alone."""
