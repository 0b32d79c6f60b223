import type { Limits } from "../protocol/index.js";

/** Vision models scale larger pictures down themselves, after they have been paid for. */
export const LONGEST_SIDE_PX = 1_568;
export const JPEG_QUALITY = 0.85;
/** A PNG up to this size stays one, so that text and lines stay sharp. */
export const SMALL_PNG_BYTES = 400_000;
/** Decoding more would take gigabytes of memory. */
export const MOST_PIXELS = 120_000_000;
export const LARGEST_FILE_BYTES = 60_000_000;
/** What a frame holds beside its pictures: the text and what belongs to it. */
const FRAME_REST_BYTES = 64_000;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size in which a picture is sent: never larger than it is, no side below one pixel. */
export function scaled({ width, height }: Size, longest = LONGEST_SIDE_PX): Size {
  const factor = Math.min(1, longest / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/** Bytes that all pictures of a message may have together, however many: base64 makes four of three. */
export function budget({ max_image_bytes, max_frame_bytes }: Limits): number {
  return Math.max(0, Math.min(max_image_bytes, Math.floor(((max_frame_bytes - FRAME_REST_BYTES) * 3) / 4)));
}
