// Who this browser is to Parlor: a key that no script can read out, kept in IndexedDB (which belongs to origin and port), and the name
// that the server gave it.

import { kept, keep, DEVICE } from "./database";
import type { DeviceRole } from "../view/ports";

export interface Device {
  id: string;
  name: string;
  role: DeviceRole;
}

interface KeptDevice {
  device: Device;
  key: CryptoKey;
}

/** Why this browser could not be enrolled. */
export interface EnrolFailure {
  code: string;
  message: string;
  hint?: string | undefined;
}

/** The one-time token of the address, which is taken out of it before anything else happens. */
export function takeToken(place: Location = location, past: History = history): string | undefined {
  const found = /^#token=([A-Za-z0-9_-]+)$/.exec(place.hash);
  if (!found) return undefined;
  past.replaceState(null, "", place.pathname + place.search);
  return found[1];
}

/** What signs for this device; `undefined` while it is not enrolled. */
export async function known(): Promise<KeptDevice | undefined> {
  return kept<KeptDevice>(DEVICE, "this");
}

/** Makes a key and has it known. Throws an `EnrolFailure`. */
export async function enrol(
  token: string,
  name: string,
  ask: typeof fetch = fetch,
  store: (value: KeptDevice) => Promise<void> = (value) => keep(DEVICE, "this", value),
): Promise<Device> {
  if (typeof crypto === "undefined" || !crypto.subtle) {
    const hint = "Open the page at http://127.0.0.1 or over HTTPS.";
    throw { code: "insecure", message: "This address gives a page no keys", hint } satisfies EnrolFailure;
  }
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
  const key = base64url(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
  const answer = await ask("/enrol", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token, key, name }),
  });
  const said = (await answer.json()) as { device?: Device; error?: EnrolFailure };
  if (!said.device) throw said.error ?? { code: "bad_request", message: `Parlor answered ${answer.status}` };
  await store({ device: said.device, key: pair.privateKey });
  return said.device;
}

/** What a device says to a challenge. */
export async function signature(key: CryptoKey, nonce: string, host: string, id: string): Promise<string> {
  const words = new TextEncoder().encode(`parlor-device-1\n${nonce}\n${host}\n${id}`);
  return base64url(new Uint8Array(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, words)));
}

/** What a person may call this browser. */
export function browserName(agent: string = navigator.userAgent): string {
  const browser = /Edg\//.test(agent) ? "Edge" : /Firefox\//.test(agent) ? "Firefox" : /Chrom/.test(agent) ? "Chromium" : /Safari\//.test(agent) ? "Safari" : "Browser";
  const system = /Android/.test(agent) ? "Android" : /iPhone|iPad/.test(agent) ? "iOS" : /Mac OS/.test(agent) ? "macOS" : /Windows/.test(agent) ? "Windows" : "Linux";
  return `${browser} on ${system}`;
}

export function base64url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
