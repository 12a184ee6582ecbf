"""The reading of requests: as the reader does it."""

from delibsim.web.serve import LONGEST, Protocol

__all__ = ["LONGEST", "Protocol"]
