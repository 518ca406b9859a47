"""What is proved about rows of two classes, and about a run: margins, bounds, certificates."""
