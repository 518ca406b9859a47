"""Every compiled line: what learns and scores, and what turns bytes into rows."""
