"""The trained judge of summaries (extra `judge`): network, training, checkpoints, scores."""
