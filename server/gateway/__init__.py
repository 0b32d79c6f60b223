"""The one port: who may come in, the page and its assets, the WebSocket. No session logic."""
