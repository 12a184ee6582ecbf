"""Formulas of collective summaries: labels, groups that are left out, order, place, extraction."""
