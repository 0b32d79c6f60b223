"""MCP: servers whose tools join ours, over stdio or streamable HTTP.

:class:`tools.mcp.servers.McpServers` is the door. The package ``mcp`` is imported only when a server is
started, and beside the event loop: importing it takes most of a second.
"""
