// The keys, as the page that lists them shows them.

import { Dialog } from "./dialog";

export const KEYS: [string, string][] = [
  ["Ctrl/⌘ K", "palette: sessions, commands, files"],
  ["Enter", "send (steer while running)"],
  ["Alt Enter", "queue as follow-up"],
  ["Shift Enter", "new line"],
  ["Esc", "close what floats; twice in 1 s: stop the run"],
  ["/", "search here (composer: slash commands)"],
  ["Ctrl/⌘ F", "search here; in its field: the browser's search"],
  ["@", "in the composer: name a file"],
  ["↑", "in the empty composer: last prompt"],
  ["g f", "fleet"],
  ["w", "next session that waits"],
  ["j k", "next, previous row"],
  ["y n r s a", "answer the question"],
  ["[ ]", "left, right column"],
  ["d", "diffs unified, or side by side where there is room"],
  ["Home End", "the beginning; follow again"],
  ["F6", "next region"],
  ["?", "this list"],
];

export function KeysPage({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {KEYS.map(([key, words]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p class="soft">
        Single letters work while no field has the focus. A question that has just appeared takes no key until you have
        not typed for 1.5 s.
      </p>
    </Dialog>
  );
}
