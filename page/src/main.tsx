// The page begins: a token in the address is taken out of it before anything else, then the screens are drawn.

import { render } from "preact";
import { browserName, enrol, takeToken, type EnrolFailure } from "./model/device";
import { openWorld } from "./model/world";
import { App } from "./view/app";
import { apply } from "./view/chrome/scheme";
import { State } from "./view/chrome/way";
import { warm } from "./view/text/warm";

const token = takeToken();
const root = document.getElementById("app");

async function start(into: HTMLElement): Promise<void> {
  apply();
  if (token !== undefined) {
    try {
      await enrol(token, browserName());
    } catch (error) {
      const { message, hint } = error as Partial<EnrolFailure>;
      render(<main class="main"><h1 class="hidden">Parlor</h1><State title={message ?? "This device could not be paired"}>{hint ?? <>Run <code>parlor web</code> once more and open the address that it prints.</>}</State></main>, into);
      return;
    }
  }
  render(<App world={openWorld()} />, into);
  warm();
}

if (root) void start(root);
