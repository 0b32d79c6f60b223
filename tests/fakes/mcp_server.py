"""A stdio MCP server (protocol of 2025) that misbehaves on demand; the standard library alone, to start fast.

    python mcp_server.py [fault …]

It writes its process id as a line into the file `pids` of its folder. Its tools do what they are called.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

NAMES = ("echo", "fail", "die", "wait", "cancelled", "huge", "grow", "progress", "bytes", "nan", "fake error")
SCHEMA = {"type": "object", "title": "Arguments", "properties": {"text": {"type": "string"}}}
faults = frozenset(sys.argv[1:])
extra: list[str] = []
cancelled: list[Any] = []


def send(message: dict[str, Any]) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}).encode())


def write(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def answer(number: Any, result: dict[str, Any]) -> None:
    send({"id": number, "result": result})


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def call(number: Any, params: dict[str, Any]) -> None:
    name, arguments = params["name"], params.get("arguments") or {}
    match name:
        case "echo" if "wrong_id" in faults:
            answer(number + 1000, text("for somebody else"))
        case "echo":
            answer(number, text(arguments.get("text", "")))
        case "fail":
            answer(number, text("no such thing: /home/me/x", isError=True))
        case "die":
            print("dying of TOKEN=hunter22 in /home/me/server.py", file=sys.stderr, flush=True)
            os._exit(9)
        case "wait":
            pass
        case "cancelled":
            answer(number, text(json.dumps(cancelled)))
        case "huge":
            answer(number, text("x" * int(arguments.get("text", "0"))))
        case "grow":
            extra.append(f"grown{len(extra)}")
            send({"method": "notifications/tools/list_changed"})
            answer(number, text("grown"))
        case "progress":
            token = params["_meta"]["progressToken"]
            for done in (1, 2):
                progress = {"progressToken": token, "progress": done, "total": 2, "message": f"step {done}"}
                send({"method": "notifications/progress", "params": progress})
            answer(number, text("done"))
        case "bytes":
            write(
                b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\xff\xfeb"}]}}'
                % number
            )
        case "nan":
            answer(number, text("", structuredContent={"value": float("nan")}))
        case _:
            send(
                {"id": number, "error": {"code": -32602, "message": f"Unknown tool: {name} in /srv/app/x.js"}}
            )


def tools(params: dict[str, Any]) -> dict[str, Any]:
    listed = [{"name": name, "description": name, "inputSchema": SCHEMA} for name in (*NAMES, *extra)]
    if "bad_schemas" in faults:
        deep: dict[str, Any] = {}
        for _ in range(150):
            deep = {"items": deep}
        listed += [
            {"name": "big", "inputSchema": {"type": "object", "description": "x" * 100_000}},
            {"name": "deep", "inputSchema": {"type": "object", "properties": {"x": deep}}},
        ]
    if "no_schema" in faults:
        listed.append({"name": "bare", "inputSchema": {"type": "array"}})
    if "pages" not in faults:
        return {"tools": listed}
    page = int(params.get("cursor", "0"))
    # The last page names itself as the next one, for ever.
    return {"tools": listed[page * 4 : page * 4 + 4], "nextCursor": str(min(page + 1, 3))}


def initialize(params: dict[str, Any]) -> dict[str, Any]:
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "faulty", "version": "1"},
    }


def main() -> None:
    with Path("pids").open("a", encoding="utf-8") as pids:
        pids.write(f"{os.getpid()}\n")
    if "exit" in faults:
        print("Error: GITHUB_TOKEN=hunter22 is wrong in /home/me/server.py", file=sys.stderr)
        raise SystemExit(3)
    if "exit_once" in faults and len(Path("pids").read_text(encoding="utf-8").split()) == 1:
        raise SystemExit(4)
    if "stubborn" in faults:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "garbage" in faults:
        write(b'Starting server v1.0 ...\n\n{"jsonrpc": "2.0"\n[]\nnull\n\xff\xfe')
    if "flood" in faults:
        for _ in range(20):
            sys.stderr.write("noise /home/me/noise\n" * 50_000)
        sys.stderr.flush()
    for line in sys.stdin:
        message = json.loads(line)
        method, number, params = message["method"], message.get("id"), message.get("params") or {}
        if "hang" in faults:
            print("waiting for a browser", file=sys.stderr, flush=True)
            continue
        if "strict" in faults and method != "initialize" and not Path("greeted").exists():
            raise SystemExit("the first message must be initialize")
        match method:
            case "initialize":
                Path("greeted").touch()
                answer(number, initialize(params))
            case "tools/list":
                answer(number, tools(params))
            case "tools/call":
                call(number, params)
                if "deaf" in faults:
                    time.sleep(600)
            case "notifications/cancelled":
                cancelled.append(params["requestId"])
            case _ if number is not None:
                send({"id": number, "error": {"code": -32601, "message": "Method not found"}})
    if "stubborn" in faults:
        time.sleep(600)


if __name__ == "__main__":
    main()
