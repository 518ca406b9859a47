"""Whole jobs: train on a file, tune, evaluate; without scikit-learn."""
