import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Takes files that are dropped anywhere on the page; without it the browser would open them in its place. */
export class FileDrop implements ReactiveController {
  /** Files are being held over the page. */
  over = false;

  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly take: (files: File[]) => void,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    document.addEventListener("dragover", this.#dragged);
    document.addEventListener("dragleave", this.#left);
    document.addEventListener("drop", this.#dropped);
  }

  hostDisconnected(): void {
    document.removeEventListener("dragover", this.#dragged);
    document.removeEventListener("dragleave", this.#left);
    document.removeEventListener("drop", this.#dropped);
  }

  readonly #dragged = (event: DragEvent): void => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    this.#show(true);
  };

  readonly #left = (event: DragEvent): void => {
    if (event.relatedTarget === null) this.#show(false);
  };

  readonly #dropped = (event: DragEvent): void => {
    this.#show(false);
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    this.take(files);
  };

  #show(over: boolean): void {
    if (over === this.over) return;
    this.over = over;
    this.host.requestUpdate();
  }
}
