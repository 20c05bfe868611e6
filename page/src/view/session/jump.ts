// From a changed file to the place in the conversation where it was changed.

import { signal } from "@preact/signals";

/** The tool run that is to be shown. */
export const jump = signal<number | undefined>(undefined);
