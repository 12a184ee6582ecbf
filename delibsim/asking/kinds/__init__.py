"""The kinds of asking: what is asked about which texts, and what an answer is."""
