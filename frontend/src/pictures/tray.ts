import { Signal } from "../lib/signal.js";
import type { Limits } from "../protocol/index.js";
import { budget } from "./measure.js";
import type { Picture } from "./picture.js";

/** Why a picture did not come along: it can't be read, it is too large, or there are too many. */
export type Complaint =
  | { readonly kind: "unreadable" | "huge" | "heavy"; readonly name: string }
  | { readonly kind: "many"; readonly most: number; readonly left: number };

export interface Tray {
  readonly pictures: readonly Picture[];
  /** Files that are still being read. */
  readonly reading: number;
  readonly complaints: readonly Complaint[];
}

/** A picture from a file; throws {@link Unfit}. */
export type Reader = (file: File) => Promise<Picture>;

export class Unfit extends Error {
  constructor(readonly kind: "unreadable" | "huge") {
    super(kind);
  }
}

const EMPTY: Tray = { pictures: [], reading: 0, complaints: [] };

/** The pictures that wait to go out with the next message, within what the server takes. */
export class PictureTray {
  readonly content = new Signal<Tray>(EMPTY);

  #generation = 0;

  constructor(
    private readonly read: Reader,
    private readonly limits: () => Limits | null,
  ) {}

  /** Takes files one after the other, so that fifty of them never stand in memory at once. */
  async add(files: readonly File[]): Promise<void> {
    const generation = this.#generation;
    const room = this.#room();
    const taken = files.slice(0, room);
    const left = files.length - taken.length;
    this.#change({
      reading: this.content.value.reading + taken.length,
      complaints: left > 0 ? [{ kind: "many", most: this.limits()?.max_images ?? 0, left }] : [],
    });
    for (const file of taken) {
      const outcome = await this.#readOne(file);
      if (generation !== this.#generation) return;
      this.#change({ reading: this.content.value.reading - 1 });
      if ("kind" in outcome) this.#complain(outcome);
      else if (this.#weight() + outcome.bytes > this.#budget()) this.#complain({ kind: "heavy", name: file.name });
      else this.#change({ pictures: [...this.content.value.pictures, outcome] });
    }
  }

  remove(picture: Picture): void {
    this.#change({ pictures: this.content.value.pictures.filter((other) => other !== picture), complaints: [] });
  }

  /** Takes pictures that were read before, as far as there is room. */
  put(pictures: readonly Picture[]): void {
    for (const picture of pictures) {
      const here = this.content.value.pictures;
      if (here.includes(picture) || this.#room() === 0 || this.#weight() + picture.bytes > this.#budget()) continue;
      this.#change({ pictures: [...here, picture] });
    }
  }

  /** The pictures, which leave the tray. */
  empty(): readonly Picture[] {
    const { pictures } = this.content.value;
    this.#generation++;
    this.content.set(EMPTY);
    return pictures;
  }

  async #readOne(file: File): Promise<Picture | Complaint> {
    try {
      return await this.read(file);
    } catch (error) {
      return { kind: error instanceof Unfit ? error.kind : "unreadable", name: file.name };
    }
  }

  #room(): number {
    const { pictures, reading } = this.content.value;
    return Math.max(0, (this.limits()?.max_images ?? 0) - pictures.length - reading);
  }

  #budget(): number {
    const limits = this.limits();
    return limits ? budget(limits) : 0;
  }

  #weight(): number {
    return this.content.value.pictures.reduce((sum, picture) => sum + picture.bytes, 0);
  }

  #complain(complaint: Complaint): void {
    this.#change({ complaints: [...this.content.value.complaints, complaint] });
  }

  #change(change: Partial<Tray>): void {
    this.content.set({ ...this.content.value, ...change });
  }
}
