"""A scorer and a language model for delibsim, in a package of their own."""
