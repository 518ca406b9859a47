"""Taggers of sentences, all of them: kernels, learner, estimator, files, jobs and figures."""
