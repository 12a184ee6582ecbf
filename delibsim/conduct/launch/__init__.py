"""A study in several processes."""
