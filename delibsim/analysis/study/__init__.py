"""From the table of a study to what it shows: inference, figures, the report."""
