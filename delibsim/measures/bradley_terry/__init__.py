"""Bradley-Terry models: what texts must be worth for those that were preferred to be preferred."""

from delibsim.measures.bradley_terry.plain import bradley_terry, centred, comparisons

__all__ = ["bradley_terry", "centred", "comparisons"]
