"""Kinds of model without scikit-learn: linear, dual, sequence, network."""
