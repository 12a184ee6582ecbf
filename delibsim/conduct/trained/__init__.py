"""A judge of summaries that is trained on judgments: records, training, scores."""
