"""The databases that tests run on."""

from postgres import database, opened, postgres  # noqa: F401
