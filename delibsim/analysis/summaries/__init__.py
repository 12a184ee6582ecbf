"""Tables on summaries of opinions: how far they carry whom, and how sure that is."""
