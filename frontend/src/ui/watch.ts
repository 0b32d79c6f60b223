import type { ReactiveController, ReactiveControllerHost } from "lit";

import type { Readable } from "../lib/signal.js";

/** Renders its host anew whenever one of the signals changes. */
export class Watch implements ReactiveController {
  #stops: (() => void)[] = [];

  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly signals: () => readonly Readable<unknown>[],
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    this.#stops = this.signals().map((signal) => signal.subscribe(() => this.host.requestUpdate()));
  }

  hostDisconnected(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }
}
