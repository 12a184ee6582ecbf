"""Agreement of coders in any table of codes: reading the table, coefficients, tables of results."""
