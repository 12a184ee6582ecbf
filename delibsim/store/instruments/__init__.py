"""Topics, surveys, people's answers, personas and covariates, as files."""
