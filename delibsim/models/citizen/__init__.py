"""The embedded citizen: a rule-based null model that answers, speaks, debates and rates."""
