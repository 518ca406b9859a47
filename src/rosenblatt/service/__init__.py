"""A service that predicts and learns; what it acknowledged is on disk."""
