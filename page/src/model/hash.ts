// The rolling hash of a session's state, bit for bit that of `crates/domain/src/state/hash.rs`: two sides that hold the same session
// get the same number. Values are fed in the bytes that Rust's derived `Hash` writes: numbers of 64 bits with the low byte first, a
// text with a byte 0xff behind it, a list with its length before it, a variant by its place, also eight bytes.
//
// All numbers of 64 bits are two halves of 32: BigInt would be many times slower, and a long session has megabytes to go through.

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
    const low = (((other << 16) | (under & 0xffff)) >>> 0) + a * W0L + b * W1L + c * W2L + d * W3L + e * W4L + f * W5L + g * W6L + h;
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
    const { read, written } = ENCODER.encodeInto(rest.length > SCRATCH.length ? rest.slice(0, SCRATCH.length) : rest, SCRATCH);
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

const SMALL = new Uint8Array(8);

/** Takes values in, in the bytes that Rust's derived `Hash` writes. */
export class Hasher {
  private readonly roll = start();

  finish(): Halves {
    return mixed(this.roll);
  }

  byte(value: number): this {
    SMALL[0] = value;
    rollBytes(this.roll, SMALL, 1);
    return this;
  }

  flag(value: boolean): this {
    return this.byte(value ? 1 : 0);
  }

  halves(value: Halves): this {
    for (let at = 0; at < 4; at += 1) {
      SMALL[at] = (value.lo >>> (8 * at)) & 0xff;
      SMALL[at + 4] = (value.hi >>> (8 * at)) & 0xff;
    }
    rollBytes(this.roll, SMALL, 8);
    return this;
  }

  /** A number of 64 bits; also a length and the place of a variant. A float is exact up to 2^53. */
  number(value: number | bigint): this {
    if (typeof value === "bigint") return this.halves({ hi: Number((value >> 32n) & 0xffff_ffffn), lo: Number(value & 0xffff_ffffn) });
    return this.halves({ hi: Math.floor(value / TWO_32) >>> 0, lo: value >>> 0 });
  }

  text(value: string): this {
    rollText(this.roll, value);
    return this.byte(0xff);
  }

  /** `Some` or `None`, and what is in it. */
  maybe<T>(value: T | null | undefined, inner: (value: T) => void): this {
    if (value === undefined || value === null) return this.number(0);
    this.number(1);
    inner(value);
    return this;
  }

  maybeNumber(value: number | null | undefined): this {
    return this.maybe(value, (inside) => this.number(inside));
  }

  maybeText(value: string | null | undefined): this {
    return this.maybe(value, (inside) => this.text(inside));
  }

  list<T>(values: readonly T[], each: (value: T) => void): this {
    this.number(values.length);
    for (const value of values) each(value);
    return this;
  }

  texts(values: readonly string[]): this {
    return this.list(values, (value) => this.text(value));
  }
}
