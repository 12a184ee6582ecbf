"""The pages on which people deliberate, debate, answer, rate and code; and the researcher's own."""
