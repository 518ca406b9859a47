"""Training: update rules, tasks, solutions, orders, plans, and the one outer loop."""
