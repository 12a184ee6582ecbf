"""Language models behind one door: prompts, forms of reply, completions, recording and replay, and
the embedded citizen.
"""
