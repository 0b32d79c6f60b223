export type Diagnosis = "unreachable" | "token-needed" | "reachable";

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const PATIENCE_MS = 5_000;

/** Asks `/healthz` why the WebSocket may have been refused. */
export async function diagnose(base: string, fetch: Fetch): Promise<Diagnosis> {
  try {
    const response = await fetch(new URL("healthz", base).href, {
      cache: "no-store",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (!response.ok) return "unreachable";
    const body: unknown = await response.json();
    const needed = typeof body === "object" && body !== null && "token_required" in body && body.token_required;
    return needed === true ? "token-needed" : "reachable";
  } catch {
    return "unreachable";
  }
}
