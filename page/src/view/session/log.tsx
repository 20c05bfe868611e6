// What the program behind a session says beside its answers: its stderr, and lines that could not be read.

import { useEffect, useState } from "preact/hooks";
import { refusalWords, type FleetPort, type SessionPort } from "../ports";
import { visible } from "../text/unseen";

export function SessionLog({ port, fleet }: { port: SessionPort; fleet: FleetPort }) {
  const [lines, setLines] = useState<readonly string[] | undefined>();
  const [trouble, setTrouble] = useState<string | undefined>();
  const id = port.id.value;
  const look = (): void => {
    if (id === undefined) return;
    void fleet.look?.({ log: id }).then(
      (told) => {
        setTrouble(undefined);
        setLines(told.lines);
      },
      (why: unknown) => setTrouble(refusalWords(why)),
    );
  };
  useEffect(look, [id]);
  return (
    <>
      <div class="row">
        <span class="grow soft">What the program says on its stderr, and what it said that could not be read.</span>
        <button type="button" class="button" onClick={look}>
          Look again
        </button>
      </div>
      {trouble !== undefined && (
        <p class="risk" role="alert">
          {trouble}
        </p>
      )}
      {lines !== undefined &&
        (lines.length === 0 ? (
          <p class="soft">It has said nothing yet.</p>
        ) : (
          <pre class="mono" tabIndex={0} role="region" aria-label="Log">
            {lines.map(visible).join("\n")}
          </pre>
        ))}
    </>
  );
}
