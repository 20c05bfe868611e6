// The page's own store in the browser: this device's key, drafts, prompts that are not settled.

export const DEVICE = "device";
export const DRAFTS = "drafts";
export const OUTBOX = "outbox";

function open(): Promise<IDBDatabase> {
  return new Promise((done, failed) => {
    const request = indexedDB.open("parlor", 1);
    request.onupgradeneeded = () => {
      for (const store of [DEVICE, DRAFTS, OUTBOX]) request.result.createObjectStore(store);
    };
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error ?? new Error("the browser keeps nothing for this page"));
  });
}

async function within<T>(
  store: string,
  mode: IDBTransactionMode,
  use: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const database = await open();
  try {
    return await new Promise<T>((done, failed) => {
      const transaction = database.transaction(store, mode);
      const request = use(transaction.objectStore(store));
      transaction.oncomplete = () => done(request.result);
      transaction.onerror = () => failed(transaction.error ?? new Error("not kept"));
      transaction.onabort = () => failed(transaction.error ?? new Error("not kept"));
    });
  } finally {
    database.close();
  }
}

export async function kept<T>(store: string, key: string): Promise<T | undefined> {
  return (await within(store, "readonly", (all) => all.get(key))) as T | undefined;
}

export async function keep(store: string, key: string, value: unknown): Promise<void> {
  await within(store, "readwrite", (all) => all.put(value, key));
}

export async function forget(store: string, key: string): Promise<void> {
  await within(store, "readwrite", (all) => all.delete(key));
}
