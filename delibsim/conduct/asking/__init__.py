"""Asking language models about finished texts: what codings and comparisons share."""
