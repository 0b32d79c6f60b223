import type { Image } from "../protocol/index.js";

/** A picture that goes, or went, with a message, small enough for the wire. */
export interface Picture extends Image {
  /** The file's name, for whoever can't see it. */
  readonly name: string;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
}

/** Where an `<img>` finds it. */
export const addressOf = ({ mime, data }: Image): string => `data:${mime};base64,${data}`;

export const onWire = ({ mime, data }: Picture): Image => ({ mime, data });
