"""Search and pages of the web."""
