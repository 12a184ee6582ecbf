"""Holding the sessions that wait for people, and handing out texts to raters and coders."""
