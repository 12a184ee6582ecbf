"""The preregistration of a study: its sections, each from the plan to text in Markdown."""
