"""Statistical inference on numpy arrays: estimates, intervals and tests; each cites its source."""
