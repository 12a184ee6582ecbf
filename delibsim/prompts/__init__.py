"""What is asked and how the reply is read."""
