"""Model files: data only, versioned, checked, and replaced atomically."""
