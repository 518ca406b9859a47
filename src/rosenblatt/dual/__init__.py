"""The kernel perceptron, all of it: kernels for CPU and GPU, learner, estimator and parameters."""
