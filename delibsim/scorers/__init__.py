"""Reading runs: one class a scorer, found by entry point; `dri` is the exemplar to read first."""
