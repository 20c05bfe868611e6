// For tests without a browser: the words that a component without hooks draws.

import { Component, isValidElement, type ComponentChildren } from "preact";

export function words(of: ComponentChildren): string {
  if (of === null || of === undefined || typeof of === "boolean") return "";
  if (Array.isArray(of)) return of.map(words).join("");
  if (!isValidElement(of)) return String(of);
  const { type, props } = of as { type: unknown; props: { children?: ComponentChildren } };
  if (typeof type !== "function") return words(props.children);
  if (type.prototype instanceof Component)
    return words(new (type as new (props: object) => Component)(props).render(props));
  return words((type as (props: object) => ComponentChildren)(props));
}
