// Numbers as people read them.

/** How long ago, in the shortest words. */
export function age(since: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - since) / 1000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h`;
  return `${Math.floor(hours / 24)} d`;
}

/** How long something took: what is begun of a unit is left out, as in the terminal. */
export function duration(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  if (seconds < 10) return `${tenths(Math.max(0, ms), 1000).toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  if (minutes < 60) return `${minutes} m ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

/**
 * A number with a comma after each three digits. By hand: the browser's own way costs a frame when it is first asked.
 */
export function grouped(digits: string): string {
  return digits.replace(/\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g, ",");
}

/** How many of a unit, with one digit behind the point; the rest is cut. */
function tenths(count: number, unit: number): number {
  return Math.floor(count / (unit / 10)) / 10;
}

export function tokens(of: number | bigint): string {
  const count = Number(of);
  if (count < 1000) return String(count);
  if (count < 1_000_000) return `${tenths(count, 1000)} k`;
  if (count < 1_000_000_000) return `${tenths(count, 1_000_000)} M`;
  return `${grouped(String(tenths(count, 1_000_000_000)))} G`;
}

/** Money; nothing where no price is known. */
export function money(micros: number | bigint | undefined, rough = false): string | undefined {
  if (!micros) return undefined;
  const dollars = Number(micros) / 1_000_000;
  const digits = dollars < 0.01 ? 4 : 2;
  return `${rough ? "~" : ""}$${grouped(dollars.toFixed(digits))}`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(String(count))} ${count === 1 ? one : many}`;
}

export function clock(at: number): string {
  const time = new Date(at);
  return `${String(time.getHours()).padStart(2, "0")}:${String(time.getMinutes()).padStart(2, "0")}`;
}

/** The last folder of a path. */
export function folder(path: string | undefined): string {
  return path?.replace(/\/+$/, "").split("/").at(-1) || path || "";
}
