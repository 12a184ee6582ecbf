"""Before a study: what is to be held, what it takes, and what is frozen."""
