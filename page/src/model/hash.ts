// The hash of a session's state, which two sides that hold the same session get alike: docs/native-protocol.md tells it
// byte by byte under "Proof". Here are its stream and the canonical bytes of any value: members in the order of their
// names, null and false left out, no space, strings as they are between 0xfe and 0xff, payloads as text.
//
// All numbers of 64 bits are two halves of 32: BigInt would be many times slower, and a long session has megabytes to
// go through.

import type { Halves } from "./state";

export const START_HI = 0xcbf29ce4;
export const START_LO = 0x84222325;

const TWO_32 = 0x1_0000_0000;

/** A stream without a byte. */
export function start(): Halves {
  return { hi: START_HI, lo: START_LO };
}

let productHi = 0;
let productLo = 0;

/** The low 64 bits of a product, into `productHi` and `productLo`. */
function multiply(aHi: number, aLo: number, bHi: number, bLo: number): void {
  const a0 = aLo & 0xffff;
  const a1 = aLo >>> 16;
  const b0 = bLo & 0xffff;
  const b1 = bLo >>> 16;
  const low = a0 * b0;
  const middle = a1 * b0 + (low >>> 16);
  const other = a0 * b1 + (middle & 0xffff);
  const carried = a1 * b1 + (middle >>> 16) + (other >>> 16);
  productLo = ((other << 16) | (low & 0xffff)) >>> 0;
  productHi = (carried + Math.imul(aHi, bLo) + Math.imul(aLo, bHi)) >>> 0;
}

/** The powers of an odd number, highest first: the weights of a byte that has seven to none behind it. */
const POWERS: Halves[] = [{ hi: 0, lo: 1 }];
while (POWERS.length < 9) {
  const next = POWERS[0] as Halves;
  multiply(0x9e3779b9, 0x7f4a7c15, next.hi, next.lo);
  POWERS.unshift({ hi: productHi, lo: productLo });
}
const EIGHTH = POWERS.shift() as Halves;
const E_HI = EIGHTH.hi;
const E_LO = EIGHTH.lo;
const E0 = E_LO & 0xffff;
const E1 = E_LO >>> 16;
const POWER = POWERS[6] as Halves;
const [W0L, W1L, W2L, W3L, W4L, W5L, W6L] = POWERS.map(({ lo }) => lo) as Seven;
const [W0H, W1H, W2H, W3H, W4H, W5H, W6H] = POWERS.map(({ hi }) => hi) as Seven;
type Seven = [number, number, number, number, number, number, number];

/** The stream goes on with these bytes; any cut of them gives the same. */
export function rollBytes(roll: Halves, bytes: Uint8Array, length: number): void {
  let { hi, lo } = roll;
  let at = 0;
  for (; at + 8 <= length; at += 8) {
    const a = bytes[at] as number;
    const b = bytes[at + 1] as number;
    const c = bytes[at + 2] as number;
    const d = bytes[at + 3] as number;
    const e = bytes[at + 4] as number;
    const f = bytes[at + 5] as number;
    const g = bytes[at + 6] as number;
    const h = bytes[at + 7] as number;
    // `multiply` by EIGHTH, in place: a call that leaves its outcome outside costs half of the time.
    const lo0 = lo & 0xffff;
    const lo1 = lo >>> 16;
    const under = lo0 * E0;
    const middle = lo1 * E0 + (under >>> 16);
    const other = lo0 * E1 + (middle & 0xffff);
    const carried = lo1 * E1 + (middle >>> 16) + (other >>> 16) + Math.imul(hi, E_LO) + Math.imul(lo, E_HI);
    // Eight products of a byte and 32 bits: exact in a float, which holds 53.
    const low =
      (((other << 16) | (under & 0xffff)) >>> 0) +
      a * W0L +
      b * W1L +
      c * W2L +
      d * W3L +
      e * W4L +
      f * W5L +
      g * W6L +
      h;
    const high = a * W0H + b * W1H + c * W2H + d * W3H + e * W4H + f * W5H + g * W6H;
    hi = (carried + high + Math.floor(low / TWO_32)) >>> 0;
    lo = low >>> 0;
  }
  for (; at < length; at += 1) {
    multiply(hi, lo, POWER.hi, POWER.lo);
    const low = productLo + (bytes[at] as number);
    hi = (productHi + (low >= TWO_32 ? 1 : 0)) >>> 0;
    lo = low >>> 0;
  }
  roll.hi = hi;
  roll.lo = lo;
}

const SCRATCH = new Uint8Array(16 * 1024);
const ENCODER = new TextEncoder();
/** Texts up to here are encoded by hand where they are ASCII: a call of the encoder costs more. */
const SHORT = 48;

/** The stream goes on with a text. */
export function rollText(roll: Halves, text: string): void {
  if (text.length <= SHORT) {
    let at = 0;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code > 0x7f) break;
      SCRATCH[at] = code;
    }
    if (at === text.length) {
      rollBytes(roll, SCRATCH, at);
      return;
    }
  }
  let rest = text;
  while (rest.length > 0) {
    // A slice of the text first: the encoder looks at all that it is given.
    const { read, written } = ENCODER.encodeInto(
      rest.length > SCRATCH.length ? rest.slice(0, SCRATCH.length) : rest,
      SCRATCH,
    );
    rollBytes(roll, SCRATCH, written);
    // Half a pair at the cut of a slice is left for the next one.
    rest = rest.slice(read);
  }
}

/** Every bit of the outcome depends on every bit of the stream. */
export function mixed(roll: Halves): Halves {
  let { hi, lo } = roll;
  const fold = (by: number, mulHi: number, mulLo: number): void => {
    const shiftedLo = ((lo >>> by) | (hi << (32 - by))) >>> 0;
    multiply((hi ^ (hi >>> by)) >>> 0, (lo ^ shiftedLo) >>> 0, mulHi, mulLo);
    hi = productHi;
    lo = productLo;
  };
  fold(30, 0xbf58476d, 0x1ce4e5b9);
  fold(27, 0x94d049bb, 0x133111eb);
  return { hi: (hi ^ (hi >>> 31)) >>> 0, lo: (lo ^ (((lo >>> 31) | (hi << 1)) >>> 0)) >>> 0 };
}

export function add(sum: Halves, other: Halves): void {
  const lo = sum.lo + other.lo;
  sum.hi = (sum.hi + other.hi + (lo >= TWO_32 ? 1 : 0)) >>> 0;
  sum.lo = lo >>> 0;
}

export function subtract(sum: Halves, other: Halves): void {
  const lo = sum.lo - other.lo;
  sum.hi = (sum.hi - other.hi - (lo < 0 ? 1 : 0)) >>> 0;
  sum.lo = lo >>> 0;
}

/** Sixteen hex digits. */
export function hex(value: Halves): string {
  return value.hi.toString(16).padStart(8, "0") + value.lo.toString(16).padStart(8, "0");
}

const HELD = new Uint8Array(1024);
let held = 0;
/** Where the bytes go that are gathered. */
let into = start();

function flush(): void {
  rollBytes(into, HELD, held);
  held = 0;
}

function byte(value: number): void {
  if (held === HELD.length) flush();
  HELD[held] = value;
  held += 1;
}

function ascii(text: string): void {
  for (let at = 0; at < text.length; at += 1) byte(text.charCodeAt(at));
}

function string(text: string): void {
  byte(0xfe);
  if (text.length > SHORT || !gathered(text)) {
    flush();
    rollText(into, text);
  }
  byte(0xff);
}

/** Gathers a short text; gives no, and leaves it, where it is not ASCII. */
function gathered(text: string): boolean {
  if (held + text.length > HELD.length) flush();
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return false;
    HELD[held + at] = code;
  }
  held += text.length;
  return true;
}

/** JSON as it was written. `wire.ts` reads such members as text; a value from elsewhere is written out. */
export function verbatim(json: unknown): string {
  return typeof json === "string" ? json : (JSON.stringify(json) ?? "null");
}

/** JSON of others: it counts as the text that it came in. */
function isPayload(name: string): boolean {
  return name === "args" || name === "json";
}

function feed(value: unknown): void {
  if (typeof value === "string") return string(value);
  if (typeof value !== "object" || value === null) return ascii(String(value));
  if (Array.isArray(value)) {
    byte(0x5b);
    value.forEach((one, at) => {
      if (at > 0) byte(0x2c);
      feed(one);
    });
    return byte(0x5d);
  }
  const members = value as Record<string, unknown>;
  let any = false;
  byte(0x7b);
  for (const name of Object.keys(members).sort()) {
    let member = members[name];
    if (member === undefined) continue;
    if (isPayload(name)) member = verbatim(member);
    else if (member === null || member === false) continue;
    if (any) byte(0x2c);
    any = true;
    string(name);
    byte(0x3a);
    feed(member);
  }
  byte(0x7d);
}

/** The stream goes on with the canonical bytes of a value. */
export function rollValue(roll: Halves, value: unknown): void {
  into = roll;
  feed(value);
  flush();
}

/** The hash of the canonical bytes of a value. */
export function hashOf(value: unknown): Halves {
  const roll = start();
  rollValue(roll, value);
  return mixed(roll);
}
