"""Formulas of deliberation research on numpy arrays; each cites its source."""
