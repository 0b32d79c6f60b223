/**
 * Makes src/protocol/schema.json and src/protocol/types.gen.ts from server/protocol.py.
 *
 * `node scripts/generate.mjs` asks Python for the schema and writes both files.
 * `node scripts/generate.mjs --check` needs no Python: it fails when types.gen.ts is not what schema.json
 * makes (tests/frontend/ compares schema.json with server/protocol.py).
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { typesFrom } from "./schema-to-types.mjs";

const frontend = new URL("../", import.meta.url);
const root = fileURLToPath(new URL("../", frontend));
const schemaFile = fileURLToPath(new URL("src/protocol/schema.json", frontend));
const typesFile = fileURLToPath(new URL("src/protocol/types.gen.ts", frontend));

function python() {
  if (process.env.PET_PYTHON) return process.env.PET_PYTHON;
  const own = [".venv/bin/python", ".venv/Scripts/python.exe"].map((path) => root + path).find(existsSync);
  return own ?? (process.platform === "win32" ? "python" : "python3");
}

const read = (path) => readFileSync(path, "utf8").replaceAll("\r\n", "\n");

if (process.argv.includes("--check")) {
  if (read(typesFile) !== typesFrom(JSON.parse(read(schemaFile)))) {
    console.error("src/protocol/types.gen.ts is stale: run `npm run generate` and commit what it wrote.");
    process.exit(1);
  }
} else {
  const schema = execFileSync(python(), ["-m", "server.protocol"], { cwd: root, encoding: "utf8" });
  writeFileSync(schemaFile, schema.replaceAll("\r\n", "\n").trimEnd() + "\n");
  writeFileSync(typesFile, typesFrom(JSON.parse(schema)));
}
