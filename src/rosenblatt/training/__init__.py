"""Training: update rules, tasks, states, orders, plans, and the one outer loop."""
