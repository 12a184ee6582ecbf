"""Which sessions an analysis of a study takes: outcomes, populations, blocks, factors."""
