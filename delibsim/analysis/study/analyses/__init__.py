"""The analyses of a study: each is a function of its table, and gives a result."""
