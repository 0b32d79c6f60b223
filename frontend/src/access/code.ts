/** The one-time code that `pet` puts into the address it opens: `#code=…`. */
export interface AddressBar {
  readonly hash: string;
  readonly pathname: string;
  readonly search: string;
}

/**
 * Takes the code out of the address and clears it there at once, so that it stays in no history, bookmark or
 * screenshot.
 */
export function takeCode(bar: AddressBar, replace: (address: string) => void): string | null {
  const code = new URLSearchParams(bar.hash.replace(/^#/, "")).get("code");
  if (code === null) return null;
  replace(bar.pathname + bar.search);
  return code || null;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Changes a code for the token; null when the server no longer takes it (used, or older than a minute). */
export async function changeCode(code: string, base: string, fetch: Fetch): Promise<string | null> {
  try {
    const response = await fetch(new URL("token", base).href, {
      headers: { "X-Pet-Code": code },
      cache: "no-store",
    });
    if (!response.ok) return null;
    const body: unknown = await response.json();
    const token = typeof body === "object" && body !== null && "token" in body ? body.token : null;
    return typeof token === "string" ? cleanToken(token) : null;
  } catch {
    return null;
  }
}

/** The token in what a person pasted (spaces, quotes and line ends around it); null when it can't be one. */
export function cleanToken(text: string): string | null {
  const token = text.trim().replace(/^["'`]+|["'`]+$/g, "");
  return /^[\w.~+-]{8,512}$/.test(token) ? token : null;
}
