// Which page this is: the digest of the sources that it was built from. A server tells which one it would give.

/** Of this page; absent where it was not built to be served. */
export const OWN: string | undefined = import.meta.env.PARLOR_PAGE_SOURCES as string | undefined;

/** Whether a server has another page than this one. A server that tells nothing known is not doubted. */
export function isOther(own: string | undefined, told: string | undefined): boolean {
  return own !== undefined && /^[0-9a-f]{64}$/.test(told ?? "") && own !== told;
}
