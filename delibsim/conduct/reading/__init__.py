"""Reading a study: an index of its runs to filter, sort and search, and what its pages show."""
