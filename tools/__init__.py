"""What the tool model may call."""
