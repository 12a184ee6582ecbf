"""Asking about finished text: one road for every kind, by language models and by people."""
