"""Reliability: how far coders and raters agree, and how far items measure one thing."""
