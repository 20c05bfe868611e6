// Which rows of a fixed height are in sight.

export interface Window {
  first: number;
  /** One past the last. */
  end: number;
}

export function inSight(top: number, height: number, row: number, count: number, spare = 10): Window {
  if (count === 0 || row <= 0) return { first: 0, end: 0 };
  const first = Math.max(0, Math.min(count, Math.floor(top / row)) - spare);
  const end = Math.min(count, Math.ceil((top + Math.max(0, height)) / row) + spare);
  return { first: Math.min(first, end), end };
}
