"""Figures: an entry of data/figures/*.yaml each, drawn from a table by one of six marks."""
