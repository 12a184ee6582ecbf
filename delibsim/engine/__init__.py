"""Holding a session: the room, the order of speakers, and who hears whom."""
