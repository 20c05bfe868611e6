// What floats: keeps the focus inside, closes by Escape, gives the focus back.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../common/icon";

export function Dialog({
  title,
  wide,
  close,
  children,
  bare,
}: {
  title: string;
  wide?: boolean;
  close: () => void;
  children: ComponentChildren;
  bare?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  // Before it is painted: a key that is pressed at once is already in it, or already out of it.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const first = box.current?.querySelector<HTMLElement>("input, textarea, select") ?? box.current;
    first?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const key = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    }
    if (event.key !== "Tab") return;
    const all = [
      ...(box.current?.querySelectorAll<HTMLElement>(
        "a[href], button:not(:disabled), input, textarea, select, [tabindex='0']",
      ) ?? []),
    ];
    const [first, last] = [all[0], all.at(-1)];
    if (event.shiftKey && (document.activeElement === first || document.activeElement === box.current)) {
      event.preventDefault();
      last?.focus();
    } else if (!event.shiftKey && document.activeElement === last) {
      event.preventDefault();
      first?.focus();
    }
  };
  return (
    <div class="floor" onMouseDown={(event) => event.target === event.currentTarget && close()} onKeyDown={key}>
      <div
        class={`sheet${wide ? " wide" : ""}${bare ? " palette" : ""}`}
        ref={box}
        role="dialog"
        aria-modal="true"
        aria-label={title}
        tabIndex={-1}
      >
        {!bare && (
          <div class="sheet-head">
            <h2 class="grow">{title}</h2>
            <button type="button" class="quiet" aria-label="Close" onClick={close}>
              <Icon name="close" />
            </button>
          </div>
        )}
        {bare ? children : <div class="body">{children}</div>}
      </div>
    </div>
  );
}
