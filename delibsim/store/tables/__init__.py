"""A study as tidy tables, with a codebook."""
