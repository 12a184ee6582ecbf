"""Asking about finished text, by language models or people."""
