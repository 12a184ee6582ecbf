"""Coding texts by a scheme: tasks for models, packs and tables of people, rationales read."""
