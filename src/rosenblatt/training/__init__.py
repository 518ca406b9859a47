"""Learning from rows: update rules, tasks, solutions, orders, and the one outer loop."""
