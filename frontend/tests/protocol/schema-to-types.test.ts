import { expect, it } from "vitest";

// @ts-expect-error: a build script, plain JavaScript without types of its own
import { typesFrom } from "../../scripts/schema-to-types.mjs";

const generate = (defs: object): string =>
  (typesFrom as (schema: object) => string)({
    $defs: {
      ClientFrame: { anyOf: [{ $ref: "#/$defs/Ask" }] },
      ServerFrame: { anyOf: [{ $ref: "#/$defs/Tell" }] },
      Ask: { type: "object", properties: {} },
      Tell: { type: "object", properties: {} },
      ...defs,
    },
  });

const fields = {
  kind: { const: "x", default: "x", type: "string" },
  maybe: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
  count: { type: "integer", default: 4 },
};

it("makes a frame's type a literal that is always there", () => {
  expect(generate({ Ask: { type: "object", properties: { type: { const: "ask", type: "string" } } } })).toContain(
    'readonly type: "ask";',
  );
});

it("knows that the server leaves out nulls and nothing else", () => {
  const types = generate({ Tell: { type: "object", properties: fields } });
  expect(types).toContain("readonly maybe?: string;");
  expect(types).toContain("readonly count: number;");
});

it("lets a client leave out what has a default", () => {
  const types = generate({ Ask: { type: "object", properties: fields } });
  expect(types).toContain("readonly count?: number;");
});

it("refuses a schema that it does not understand, rather than guessing", () => {
  expect(() => generate({ Tell: { type: "object", properties: { odd: { type: "mystery" } } } })).toThrow(/mystery/);
});
