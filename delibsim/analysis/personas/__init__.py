"""Personas from people's answers."""
