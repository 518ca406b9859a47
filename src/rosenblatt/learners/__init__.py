"""Kinds of model without scikit-learn: linear, dual, network."""
