import type { Connection } from "./connection.js";
import { RequestError } from "./requests.js";

/** lab.toml may be edited by hand at the same time; a key collides with nothing that stands there. */
const TRIES = 3;

/** Gives a provider's key to the server. Throws {@link RequestError}. */
export async function storeKey(connection: Pick<Connection, "request">, provider: string, key: string): Promise<void> {
  const changes = { [`llm.providers.${provider}.api_key`]: key };
  for (let tries = 1; ; tries++) {
    const { revision } = await connection.request<"settings.get">({ type: "settings.get" });
    try {
      await connection.request<"settings.update">({ type: "settings.update", revision, changes });
      return;
    } catch (error) {
      const conflict = error instanceof RequestError && error.code === "conflict";
      if (!conflict || tries === TRIES) throw error;
    }
  }
}
