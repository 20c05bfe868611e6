// Service workers: the page has none. Whoever has served something else under this name may have left one behind, to
// stand between the page and Parlor from then on.

/** Takes away every one there is; gives how many there were. */
export async function dropWorkers(
  container: Pick<ServiceWorkerContainer, "getRegistrations"> | undefined = typeof navigator === "undefined"
    ? undefined
    : navigator.serviceWorker,
): Promise<number> {
  try {
    const all = (await container?.getRegistrations()) ?? [];
    await Promise.all(all.map((one) => one.unregister()));
    return all.length;
  } catch {
    // A browser that refuses the list has none for us.
    return 0;
  }
}
