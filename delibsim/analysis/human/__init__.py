"""Real people's deliberations, measured."""
