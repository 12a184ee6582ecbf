"""Holding a study in several processes."""
