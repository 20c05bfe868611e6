// How this browser becomes a device: it shows a code, Parlor shows the same one where the person asked for the page,
// and the person says that they are the same. No secret goes over the wire: only public keys, and a signature that the
// private half is here.

import { hold, holds, keepDevice, newKey, signed, browserName } from "./device";
import type { Device } from "./device";
import { HANDSHAKE_MS, said } from "./link";
import type { Refused, Socket } from "./link";

/** What pairing needs of the browser. */
export interface EnrolEnv {
  open(): Socket;
  host: string;
  now(): number;
  later(ms: number, what: () => void): () => void;
  name(): string;
}

/** What the page shows while it waits for a person. */
export interface Code {
  code: string;
  /** When it is too late. */
  until: number;
}

/** Words of the server while a device is enrolled. */
interface Words {
  challenge?: { nonce: string; server?: string; lasting?: boolean };
  code?: { code: string; seconds: number };
  enrolled?: { device: Device };
  refused?: Refused;
}

interface Pair {
  key: CryptoKey;
  shown: string;
}

const INSECURE: Refused = {
  code: "insecure",
  message: "This address gives a page no keys",
  hint: "Open the page at the address that `parlor web` prints, or over HTTPS.",
};
const LOST: Refused = { code: "lost", message: "The connection was lost before this device was paired" };
const OTHERS: Refused = { code: "impostor", message: "Something else answers at this address" };

/** Asks for it. Gives why it was not done, or nothing when it was; `show` is told the code. */
export async function enrol(show: (code: Code) => void, env: EnrolEnv = browser()): Promise<Refused | undefined> {
  if (typeof crypto === "undefined" || !crypto.subtle) return INSECURE;
  const [key, tab] = await Promise.all([newKey(), newKey()]);
  return new Promise((done) => {
    let over = false;
    let socket: Socket;
    const end = (refused: Refused | undefined): void => {
      if (over) return;
      over = true;
      cancel();
      socket.onmessage = null;
      socket.onclose = null;
      socket.close();
      done(refused);
    };
    try {
      socket = env.open();
    } catch {
      return done(LOST);
    }
    let cancel = env.later(HANDSHAKE_MS, () => end(LOST));
    const wait = (ms: number): void => {
      cancel();
      cancel = env.later(ms, () => end(LOST));
    };
    let asked: Asked | undefined;
    socket.onclose = () => end(LOST);
    socket.onmessage = ({ data }) => {
      const words = said(data) as Words;
      if (words.refused) end(words.refused);
      else if (words.challenge && !asked) {
        // A tab that knows Parlor speaks with nobody else.
        const known = holds()?.server;
        if (known !== undefined && known !== words.challenge.server) return end(OTHERS);
        asked = { server: words.challenge.lasting ? undefined : words.challenge.server };
        wait(HANDSHAKE_MS);
        void ask(words.challenge.nonce, key, asked.server === undefined ? undefined : tab, env).then(
          (line) => !over && socket.send(line),
          () => end(LOST),
        );
      } else if (words.code && asked) {
        wait(words.code.seconds * 1000 + HANDSHAKE_MS);
        show({ code: words.code.code, until: env.now() + words.code.seconds * 1000 });
      } else if (words.enrolled && asked) {
        // All was said: what is left is to keep it, and the server goes meanwhile.
        socket.onclose = null;
        void enrolled(words.enrolled.device, key, tab, asked).then(
          () => end(undefined),
          () =>
            end({
              code: "not_kept",
              message: "This browser keeps nothing for the page",
              hint: "Allow it to keep data of this site, and try again.",
            }),
        );
      }
    };
  });
}

interface Asked {
  /** The server's key; `undefined` where the key that is kept lasts. */
  server: string | undefined;
}

async function ask(nonce: string, key: Pair, tab: Pair | undefined, env: EnrolEnv): Promise<string> {
  const signature = await signed(key.key, ["parlor-enrol-1", nonce, env.host, key.shown, tab?.shown ?? ""]);
  return JSON.stringify({
    enrol: { key: key.shown, ...(tab ? { tab: tab.shown } : {}), name: env.name(), signature },
  });
}

async function enrolled(device: Device, key: Pair, tab: Pair, asked: Asked): Promise<void> {
  if (asked.server !== undefined) hold({ id: device.id, key: tab.key, server: asked.server });
  await keepDevice({ device, key: key.key });
}

function browser(): EnrolEnv {
  return {
    open: () =>
      new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/enrol`) as unknown as Socket,
    host: location.host,
    now: () => Date.now(),
    later: (ms, what) => {
      const timer = setTimeout(what, ms);
      return () => clearTimeout(timer);
    },
    name: browserName,
  };
}
