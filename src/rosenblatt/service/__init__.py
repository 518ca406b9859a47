"""A service that predicts and learns, and never forgets what it acknowledged."""
