"""Compiled code of the dual form: updates and votes from kernel values."""
