"""The register of a study with people: invitations, seats, requests, and what was given."""
