"""Having summaries judged: what is planned, asked, estimated, replayed, and put before people."""
