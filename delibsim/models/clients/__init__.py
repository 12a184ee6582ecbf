"""Language models over HTTP, and what all of them share."""
