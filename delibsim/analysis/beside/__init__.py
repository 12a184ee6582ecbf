"""Two runs beside each other: settings, transcripts, answers, measures and cost."""
