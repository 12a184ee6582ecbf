"""Carrying a study out: holding, replaying, annotating and scoring."""
