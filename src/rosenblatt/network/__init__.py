"""Networks of perceptrons that grow, all of them: kernels, learner, estimator and parameters."""
