"""Nouns of deliberation: frozen dataclasses on the standard library, without input or output."""
