"""The page's frame types come from server/protocol.py and from nowhere else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from frontend import build
from server.protocol import json_schema

FRONTEND = Path(__file__).parents[2] / "frontend"


def test_schema_json_is_what_the_protocol_says_now() -> None:
    committed = json.loads((FRONTEND / "src/protocol/schema.json").read_text(encoding="utf-8"))
    assert committed == json_schema(), "stale: run `npm run generate` in frontend/ and commit what it wrote"


def test_generated_types_are_what_schema_json_makes() -> None:
    command = [str(build.node()), "scripts/generate.mjs", "--check"]
    done = subprocess.run(command, cwd=FRONTEND, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
