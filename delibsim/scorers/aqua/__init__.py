"""AQuA over statements: the authors' twenty adapters on one multilingual encoder; its heavy parts
need the extra `aqua`.
"""
