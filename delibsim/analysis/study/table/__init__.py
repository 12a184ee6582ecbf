"""The table of a study: its columns, how it is made from a study, and read from other files."""
