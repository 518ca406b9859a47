"""Rows, labels, targets, weights and splits, as arrays."""
