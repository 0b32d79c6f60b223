import { expect, it } from "vitest";

import { COMMANDS, typed } from "../../src/commands/commands.js";
import { moved, offered } from "../../src/commands/palette.js";
import { en } from "../../src/i18n/en.js";
import { zh } from "../../src/i18n/zh.js";

const words = en.help.commands;

it("offers everything at the first slash, and less with each letter", () => {
  expect(offered("/", words)).toEqual({ commands: COMMANDS, active: "help" });
  expect(offered("/s", words)?.commands[0]).toBe("status");
  expect(offered("/STAT", words)).toEqual({ commands: ["status"], active: "status" });
});

it("finds a command by what it does, but lets nobody run it unseen", () => {
  expect(offered("/token", words)).toEqual({ commands: ["status"], active: null });
  expect(offered("/模型", zh.help.commands)?.commands).toContain("model");
});

it.each(["", "hello", "/help me", "/usr/bin", " /help", "/klingon", "see /help"])("offers nothing for %j", (text) => {
  expect(offered(text, words)).toBeNull();
});

it("goes round by the arrows", () => {
  const all = { commands: COMMANDS, active: "help" as const };
  expect(moved(all, 1).active).toBe("status");
  expect(moved(all, -1).active).toBe(COMMANDS.at(-1));
  expect(moved({ ...all, active: null }, 1).active).toBe("help");
  expect(moved({ ...all, active: null }, -1).active).toBe(COMMANDS.at(-1));
  expect(moved(moved(all, -1), 1).active).toBe("help");
});

it.each([["stauts", "status"], ["hlep", "help"], ["models", "model"], ["themes", "theme"], ["xyzzy", null], ["a", null]])(
  "takes /%s for a slip of %s",
  (name, nearest) => {
    expect(typed(`/${name}`)).toEqual({ kind: "unknown", name, nearest });
  },
);
