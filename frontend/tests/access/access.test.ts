import { describe, expect, it } from "vitest";

import { changeCode, cleanToken, takeCode } from "../../src/access/code.js";
import { diagnose } from "../../src/access/health.js";
import { TokenKeeper } from "../../src/access/token.js";
import { safeStorage } from "../../src/lib/storage.js";

const BASE = "http://127.0.0.1:12393/pet/?x=1";
const TOKEN = "0123456789abcdef";

const answering = (body: unknown, status = 200) => {
  const asked: { url: string; init: RequestInit }[] = [];
  const fetch = (url: string, init: RequestInit) => {
    asked.push({ url, init });
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  };
  return { asked, fetch };
};
const failing = () => Promise.reject(new TypeError("network"));

describe("the code in the address", () => {
  it("is taken, and cleared from the address at once", () => {
    const replaced: string[] = [];
    const code = takeCode({ hash: "#code=abc", pathname: "/pet/", search: "?x=1" }, (to) => replaced.push(to));
    expect(code).toBe("abc");
    expect(replaced).toEqual(["/pet/?x=1"]);
  });

  it("leaves other fragments alone", () => {
    const replaced: string[] = [];
    expect(takeCode({ hash: "#top", pathname: "/", search: "" }, (to) => replaced.push(to))).toBeNull();
    expect(replaced).toEqual([]);
  });

  it("is changed for the token, beside the page and never in an address", async () => {
    const { asked, fetch } = answering({ token: TOKEN });
    expect(await changeCode("abc", BASE, fetch)).toBe(TOKEN);
    expect(asked[0]?.url).toBe("http://127.0.0.1:12393/pet/token");
    expect(new Headers(asked[0]?.init.headers).get("X-Pet-Code")).toBe("abc");
  });

  it("that is spent, or answered with nonsense, gives no token", async () => {
    expect(await changeCode("abc", BASE, answering({}, 403).fetch)).toBeNull();
    expect(await changeCode("abc", BASE, answering({ token: 7 }).fetch)).toBeNull();
    expect(await changeCode("abc", BASE, answering("no").fetch)).toBeNull();
    expect(await changeCode("abc", BASE, failing)).toBeNull();
  });
});

describe("the token", () => {
  it("is offered as a subprotocol when there is one", () => {
    const keeper = new TokenKeeper(safeStorage(() => { throw new Error("refused"); }));
    expect(keeper.protocols()).toEqual(["pet.v1"]);
    keeper.set(TOKEN);
    expect(keeper.protocols()).toEqual(["pet.v1", `pet.token.${TOKEN}`]);
  });

  it("survives being pasted with what stood around it", () => {
    expect(cleanToken(`  "${TOKEN}"\n`)).toBe(TOKEN);
    expect(cleanToken("two words here")).toBeNull();
    expect(cleanToken("")).toBeNull();
  });
});

describe("the diagnosis of a refused connection", () => {
  it("tells a locked door from an open one and from none", async () => {
    expect(await diagnose(BASE, answering({ status: "ok", token_required: true }).fetch)).toBe("token-needed");
    expect(await diagnose(BASE, answering({ status: "ok", token_required: false }).fetch)).toBe("reachable");
    expect(await diagnose(BASE, answering({}, 502).fetch)).toBe("unreachable");
    expect(await diagnose(BASE, failing)).toBe("unreachable");
  });
});
