/**
 * The part of JSON Schema that pydantic prints for server/protocol.py, as TypeScript.
 *
 * Two rules go beyond the schema: a `const` (the `type` of a frame) is always there, and in what the server
 * sends every field with a default that isn't null is there too (nulls are left out on the wire).
 */

const HEADER = `// Generated from server/protocol.py by \`npm run generate\`; do not edit.\n`;

/** Names of the definitions that `root` reaches. */
function reachable(defs, root) {
  const seen = new Set();
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (node === null || typeof node !== "object") return;
    if (typeof node.$ref === "string") {
      const name = refName(node.$ref);
      if (!seen.has(name)) {
        seen.add(name);
        visit(defs[name]);
      }
    }
    Object.values(node).forEach(visit);
  };
  visit(defs[root]);
  return seen;
}

const refName = (ref) => ref.slice(ref.lastIndexOf("/") + 1);
const isNull = (schema) => schema.type === "null";
const isKey = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function typeOf(schema) {
  if (schema === true || Object.keys(schema).every((key) => ["title", "default", "description"].includes(key)))
    return "unknown";
  if (schema.$ref) return refName(schema.$ref);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return schema.anyOf.filter((each) => !isNull(each)).map(typeOf).join(" | ");
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "array":
      return `readonly ${wrapped(typeOf(schema.items ?? true))}[]`;
    case "object":
      return recordOf(schema);
    default:
      throw new Error(`schema-to-types does not know ${JSON.stringify(schema)}`);
  }
}

function recordOf(schema) {
  const keys = schema.propertyNames ? typeOf(schema.propertyNames) : "string";
  const values = typeOf(schema.additionalProperties ?? true);
  const record = `Readonly<Record<${keys}, ${values}>>`;
  return schema.propertyNames?.enum ? `Partial<${record}>` : record;
}

const wrapped = (type) => (/[ |]/.test(type) ? `(${type})` : type);

const comment = (text, indent = "") => {
  const lines = text.trim().split("\n").map((line) => line.trim());
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line ? ` ${line}` : ""}\n`).join("")}${indent} */\n`;
};

function interfaceOf(name, schema, sentByServer) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([key, field]) => {
    const defaulted = sentByServer && "default" in field && field.default !== null;
    // A list or map made by a default factory shows no default, but is never null either.
    const filled = sentByServer && !("default" in field) && !(field.anyOf ?? []).some(isNull);
    const present = required.has(key) || "const" in field || defaulted || filled;
    return `  readonly ${isKey(key)}${present ? "" : "?"}: ${typeOf(field)};\n`;
  });
  const doc = schema.description ? comment(schema.description) : "";
  return `${doc}export interface ${name} {\n${fields.join("")}}\n`;
}

/** The module text for a schema as `python -m server.protocol` prints it. */
export function typesFrom(schema) {
  const defs = schema.$defs;
  const fromServer = reachable(defs, "ServerFrame");
  const parts = Object.keys(defs)
    .sort()
    .map((name) => {
      const def = defs[name];
      if (def.anyOf) return `export type ${name} =\n${def.anyOf.map((each) => `  | ${typeOf(each)}\n`).join("").trimEnd()};\n`;
      if (def.enum) return `export type ${name} = ${typeOf(def)};\n`;
      return interfaceOf(name, def, fromServer.has(name));
    });
  return [HEADER, ...parts].join("\n");
}
