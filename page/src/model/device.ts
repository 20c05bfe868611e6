// Who this browser is to Parlor. Two keys, neither of which a script can read out: one is kept in IndexedDB (which
// belongs to name and port) and is good until the server is started again; the other lives in the memory of this tab
// and nowhere else, together with the server's own key, so that a tab which stayed loaded knows Parlor again and is
// known again. Over HTTPS there is only the first, and it lasts.

import { kept, keep, DEVICE } from "./database";
import type { DeviceRole } from "../view/ports";

export interface Device {
  id: string;
  name: string;
  role: DeviceRole;
}

export interface KeptDevice {
  device: Device;
  key: CryptoKey;
}

/** What only this tab has: never stored, never sent, gone with a reload. */
export interface Held {
  id: string;
  key: CryptoKey;
  /** The server's public key, as it was when a person confirmed this device. */
  server: string;
}

const ECDSA = { name: "ECDSA", namedCurve: "P-256" };
const SIGNING = { name: "ECDSA", hash: "SHA-256" };
/** Random bytes of a number that the server has to sign. */
const NONCE_BYTES = 32;

let held: Held | undefined;

/** What this tab holds; nothing after a reload: whoever served the page has then said who they are, and nobody else. */
export function holds(): Held | undefined {
  return held;
}

export function hold(now: Held | undefined): void {
  held = now;
}

let met: string | undefined;

/**
 * The key that whoever answers has to prove: the one of the server that this tab was enrolled at, or of the first that
 * welcomed it.
 */
export function serverKey(): string | undefined {
  return held?.server ?? met;
}

/**
 * A server has welcomed a tab that was loaded again. Whoever served its script could say what they liked; from here on
 * nobody else can speak in their place, and what is being written goes to no other.
 */
export function meet(server: string): void {
  met ??= server;
}

/** The device as it was kept; `undefined` while this browser is not enrolled. */
export async function known(): Promise<KeptDevice | undefined> {
  return kept<KeptDevice>(DEVICE, "this");
}

export async function keepDevice(value: KeptDevice): Promise<void> {
  await keep(DEVICE, "this", value);
}

/** A pair whose private half stays where it was made, and its public half as it is sent. */
export async function newKey(): Promise<{ key: CryptoKey; shown: string }> {
  const pair = await crypto.subtle.generateKey(ECDSA, false, ["sign"]);
  return {
    key: pair.privateKey,
    shown: base64url(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey))),
  };
}

export async function signed(key: CryptoKey, words: readonly string[]): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.sign(SIGNING, key, new TextEncoder().encode(words.join("\n")))));
}

/** What a device says to a challenge: with the tab's own key where there is one. */
export async function shown(
  nonce: string,
  host: string,
): Promise<{ id: string; signature: string; with?: "tab" } | undefined> {
  const say = (key: CryptoKey, id: string): Promise<string> => signed(key, ["parlor-device-1", nonce, host, id]);
  if (held) return { id: held.id, signature: await say(held.key, held.id), with: "tab" };
  const device = await known();
  return device && { id: device.device.id, signature: await say(device.key, device.device.id) };
}

/** A number of this tab's own, for the server to sign. */
export function newNonce(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
}

/** Whether the server that this tab knows has signed this tab's number, on this connection. */
export async function isProof(
  signature: string,
  server: string,
  mine: string,
  host: string,
  theirs: string,
): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey("raw", bytes(server), ECDSA, false, ["verify"]);
    return await crypto.subtle.verify(
      SIGNING,
      key,
      bytes(signature),
      new TextEncoder().encode(["parlor-server-1", mine, host, theirs].join("\n")),
    );
  } catch {
    return false;
  }
}

/**
 * Where Parlor offers to enrol a browser now, if that is another name of this very server. Nothing else that is called
 * an address is gone to. The place in the page goes along.
 */
export function offeredAt(
  open: string | undefined,
  here: Pick<Location, "protocol" | "hostname" | "port" | "hash">,
): string | undefined {
  if (open === undefined) return undefined;
  try {
    const there = new URL(open);
    const ours = there.protocol === here.protocol && there.port === here.port && there.hostname.endsWith(".localhost");
    return ours && there.hostname !== here.hostname ? `${there.origin}/${here.hash}` : undefined;
  } catch {
    return undefined;
  }
}

/** What a person may call this browser. */
export function browserName(agent: string = navigator.userAgent): string {
  const browser = /Edg\//.test(agent)
    ? "Edge"
    : /Firefox\//.test(agent)
      ? "Firefox"
      : /Chrom/.test(agent)
        ? "Chromium"
        : /Safari\//.test(agent)
          ? "Safari"
          : "Browser";
  const system = /Android/.test(agent)
    ? "Android"
    : /iPhone|iPad/.test(agent)
      ? "iOS"
      : /Mac OS/.test(agent)
        ? "macOS"
        : /Windows/.test(agent)
          ? "Windows"
          : "Linux";
  return `${browser} on ${system}`;
}

export function base64url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}
