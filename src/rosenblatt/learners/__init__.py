"""Kinds of model without scikit-learn."""
