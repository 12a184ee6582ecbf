"""Language models of one protocol, recording and replay, and the pool that makes the models."""
