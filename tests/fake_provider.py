"""The fake provider, which ships as `delibsim.testing.provider`, under the name the tests use."""

from delibsim.testing.answers import SCALE, form_in, survey_in, tokens
from delibsim.testing.provider import LOGIN_PAGE, FakeProvider, Rule, http_date, script_of

__all__ = [
    "LOGIN_PAGE",
    "SCALE",
    "FakeProvider",
    "Rule",
    "form_in",
    "http_date",
    "script_of",
    "survey_in",
    "tokens",
]
