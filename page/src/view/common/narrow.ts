// Whether the page has a phone's width, as `style/*.css` sees it.

import { signal } from "@preact/signals";

const query = typeof matchMedia === "function" ? matchMedia("(max-width: 700px)") : undefined;

export const narrow = signal(query?.matches ?? false);
query?.addEventListener("change", () => void (narrow.value = query.matches));
