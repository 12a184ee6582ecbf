"""Statistics of a study and of real deliberations: answers and scores in, tables out."""
