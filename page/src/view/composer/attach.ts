// What was dropped or pasted, as parts of an input.

import type { Part } from "../../model/types";

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
export const MAX_FILE = 5 * 1024 * 1024;
export const MAX_TEXT = 256 * 1024;

/** The file as a part, or words why not. */
export async function attach(file: File): Promise<Part | string> {
  if (PICTURES.includes(file.type)) {
    if (file.size > MAX_FILE) return `${file.name} is larger than 5 MB.`;
    return { image: { mime: file.type, base64: base64(new Uint8Array(await file.arrayBuffer())) } };
  }
  if (file.size > MAX_TEXT) return `${file.name} is larger than 256 KB: name its path instead, and the agent reads it.`;
  const text = await file.text();
  if (text.includes("\u0000") || text.includes("\ufffd"))
    return `${file.name} is no text and no picture that can be attached.`;
  return { code: { text, path: file.name } };
}

function base64(bytes: Uint8Array): string {
  let text = "";
  // A call with all bytes at once would be too long for the stack.
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
