"""One run for reading: as plain values, in parts, beside another run, and written for others."""
