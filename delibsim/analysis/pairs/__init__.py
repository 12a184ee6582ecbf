"""What votes on pairs show: scores of texts, judges, place bias, transitivity, stability."""
