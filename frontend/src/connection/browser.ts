import type { Socket } from "./connection.js";

/** A WebSocket as the connection wants it; an address or token that the browser refuses is a closed socket. */
export function openBrowserSocket(url: URL, protocols: string[]): Socket {
  const socket: Socket = { onopen: null, onmessage: null, onclose: null, send: () => undefined, close: () => undefined };
  let real: WebSocket;
  try {
    real = new WebSocket(url, protocols);
  } catch {
    setTimeout(() => socket.onclose?.());
    return socket;
  }
  real.onopen = () => socket.onopen?.();
  real.onmessage = (event) => socket.onmessage?.(event.data);
  real.onclose = () => socket.onclose?.();
  socket.send = (data) => {
    if (real.readyState === WebSocket.OPEN) real.send(data);
  };
  socket.close = () => real.close();
  return socket;
}

/** The address of `/ws` beside the page. */
export function socketUrl(base: string): URL {
  const url = new URL("ws", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  return url;
}
