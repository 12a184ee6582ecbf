"""The report of a study: its findings in words, its methods, and a checklist."""
