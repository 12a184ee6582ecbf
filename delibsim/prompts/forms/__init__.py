"""Forms of reply that need a module of their own."""
