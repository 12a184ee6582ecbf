"""Reports as pages: one HTML file that needs no network, and the same tables for papers."""
