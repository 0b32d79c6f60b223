from mcp_servers.timeemi.server import build

build().run("stdio")
