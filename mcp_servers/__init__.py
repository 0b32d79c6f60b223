"""MCP servers that ship with the companion."""
