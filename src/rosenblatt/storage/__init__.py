"""One model file: data only, versioned, checked, never half-written; and what a file becomes."""
