"""Bradley-Terry models: what texts must be worth for those that were preferred to be preferred."""
