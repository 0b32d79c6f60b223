import type { TextStorage } from "../lib/storage.js";
import { cleanToken } from "./code.js";

export const TOKEN_KEY = "pet.token";

/** The owner's token, kept where the browser lets us. */
export class TokenKeeper {
  constructor(private readonly storage: TextStorage) {}

  get(): string | null {
    return cleanToken(this.storage.get(TOKEN_KEY) ?? "");
  }

  set(token: string | null): void {
    this.storage.set(TOKEN_KEY, token);
  }

  /** What the WebSocket handshake offers. */
  protocols(): string[] {
    const token = this.get();
    return token === null ? ["pet.v1"] : ["pet.v1", `pet.token.${token}`];
  }
}
