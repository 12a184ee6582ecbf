"""A person in the place of a language model."""
