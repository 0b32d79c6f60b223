"""An MCP server for the time and for dice: ``python -m mcp_servers.timeemi`` speaks MCP over stdio."""
