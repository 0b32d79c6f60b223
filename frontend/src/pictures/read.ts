import { JPEG_QUALITY, LARGEST_FILE_BYTES, MOST_PIXELS, SMALL_PNG_BYTES, scaled } from "./measure.js";
import type { Picture } from "./picture.js";
import { Unfit } from "./tray.js";

/**
 * A picture from a file, scaled down and drawn anew: that also leaves behind where and with what it was taken.
 * Throws {@link Unfit}.
 */
export async function readPicture(file: File): Promise<Picture> {
  if (file.size > LARGEST_FILE_BYTES) throw new Unfit("huge");
  const address = URL.createObjectURL(file);
  try {
    const image = await load(address);
    const { naturalWidth: width, naturalHeight: height } = image;
    if (width * height > MOST_PIXELS) throw new Unfit("huge");
    if (width === 0 || height === 0) throw new Unfit("unreadable");
    const size = scaled({ width, height });
    const blob = await encoded(image, size, file.type === "image/png");
    return { name: file.name, mime: mimeOf(blob), data: await base64(blob), bytes: blob.size, ...size };
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Knows the picture's size before it is decoded, and turns it the way it was taken. */
function load(address: string): Promise<HTMLImageElement> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Unfit("unreadable"));
    image.src = address;
  });
}

async function encoded(image: HTMLImageElement, { width, height }: { width: number; height: number }, png: boolean): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d");
  if (!pen) throw new Unfit("huge");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, width, height);
  if (png) {
    const sharp = await blobOf(canvas, "image/png");
    if (sharp.size <= SMALL_PNG_BYTES) return sharp;
  }
  // JPEG knows no transparency: what shows through is white, as on paper.
  pen.globalCompositeOperation = "destination-over";
  pen.fillStyle = "white";
  pen.fillRect(0, 0, width, height);
  return blobOf(canvas, "image/jpeg");
}

function blobOf(canvas: HTMLCanvasElement, type: "image/png" | "image/jpeg"): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Unfit("huge"))), type, JPEG_QUALITY);
  });
}

const mimeOf = (blob: Blob): Picture["mime"] => (blob.type === "image/png" ? "image/png" : "image/jpeg");

function base64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",", 2)[1] ?? "");
    reader.onerror = () => reject(new Unfit("unreadable"));
    reader.readAsDataURL(blob);
  });
}
