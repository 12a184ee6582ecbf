"""Formulas of deliberation research on numpy arrays; they know nothing of delibsim, and each cites
its source.
"""
