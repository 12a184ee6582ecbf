"""The figures of a study: one module a figure, drawn by matplotlib."""
