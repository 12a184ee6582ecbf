"""Files: topics and instruments from YAML, runs and scores as JSON, written atomically and checked
when read.
"""
