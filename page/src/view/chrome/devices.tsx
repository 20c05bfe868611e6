// Devices that want in, and devices that came in: told on every page, because each may do what the person may.

import { useEffect, useRef, useState } from "preact/hooks";
import { takesClicks, takesKeys, QUIET_MS, type Guard } from "../ask/guard";
import { now as time } from "../common/now";
import type { FleetPort, Joined, Pairing } from "../ports";
import { oneLine } from "../text/unseen";
import { toast } from "./toasts";

const NOT_SENT = "No connection to Parlor: nothing was done";
/** What a device may do, after its name. */
const MAY = { controller: "do everything", approver: "look, allow once and deny", observer: "look" };

export function Devices({ fleet, typed }: { fleet: FleetPort; typed: () => number }) {
  const asking = fleet.pairing?.value;
  const may = fleet.role.value === "controller";
  return (
    <>
      {asking && (
        <Asks
          key={asking.id}
          asking={asking}
          may={may}
          typed={typed}
          say={(allow) => fleet.pair?.(asking.id, allow) || toast("error", NOT_SENT, "connection")}
        />
      )}
      {(fleet.joined?.value ?? []).map((device) => (
        <Came
          key={device.id}
          device={device}
          may={may}
          typed={typed}
          close={() => fleet.seenJoined?.(device.id)}
          revoke={() => {
            if (!fleet.revoke?.(device.id)) return void toast("error", NOT_SENT, "connection");
            fleet.seenJoined?.(device.id);
          }}
        />
      ))}
    </>
  );
}

/** Whether a press may be meant for what has just appeared: people type and click while it comes. */
function useGuard(typed: () => number): boolean {
  const [, look] = useState(0);
  const guard = useRef<Guard>({ since: Date.now(), typed: typed() });
  const now = Date.now();
  const ready = takesClicks(guard.current, true, now) && takesKeys({ ...guard.current, typed: typed() }, now);
  useEffect(() => {
    if (ready) return;
    const wait = setTimeout(() => look((count) => count + 1), QUIET_MS / 5);
    return () => clearTimeout(wait);
  });
  return ready;
}

function Asks({
  asking,
  may,
  typed,
  say,
}: {
  asking: Pairing;
  may: boolean;
  typed: () => number;
  say: (allow: boolean) => void;
}) {
  const [said, setSaid] = useState(false);
  const ready = useGuard(typed) && !said;
  const left = Math.max(0, Math.ceil((asking.until - time.value) / 1000));
  const give = (allow: boolean) => (): void => {
    setSaid(true);
    say(allow);
  };
  return (
    <div class="banner device" role="status">
      <span>
        <b>{oneLine(asking.name, 60)}</b> asks to be paired, to {MAY[asking.role]}.{" "}
        {may && asking.code ? (
          <>
            Allow it only if it shows <b class="pair-code">{asking.code}</b>
          </>
        ) : (
          "A controller can allow it."
        )}{" "}
        <span class="faint">{left} s left</span>
      </span>
      {may && (
        <span class="acts">
          <button type="button" class="button" disabled={!ready} onClick={give(false)}>
            Deny
          </button>
          <button type="button" class="button" disabled={!ready || !asking.code} onClick={give(true)}>
            Allow
          </button>
        </span>
      )}
    </div>
  );
}

function Came({
  device,
  may,
  typed,
  close,
  revoke,
}: {
  device: Joined;
  may: boolean;
  typed: () => number;
  close: () => void;
  revoke: () => void;
}) {
  const ready = useGuard(typed);
  return (
    <div class="banner device" role="status">
      <span>
        <b>{oneLine(device.name, 60)}</b> was paired and may {MAY[device.role]}.
      </span>
      <span class="acts">
        {may && (
          <button type="button" class="button" disabled={!ready} onClick={revoke}>
            Revoke
          </button>
        )}
        <button type="button" class="button" disabled={!ready} onClick={close}>
          Close
        </button>
      </span>
    </div>
  );
}
