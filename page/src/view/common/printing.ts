// Whether the page is being printed: then all of it is drawn, not only what is in sight.

import { signal } from "@preact/signals";

export const printing = signal(false);

globalThis.addEventListener?.("beforeprint", () => void (printing.value = true));
globalThis.addEventListener?.("afterprint", () => void (printing.value = false));
