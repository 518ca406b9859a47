"""Rows, labels and weights as arrays."""
